"""Task names and workers that some attempts belong to."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING

import numpy as np

from ... import words
from ...batch import Symbols
from ...lookup import Lookup, by_name, is_any, pick

if TYPE_CHECKING:
    from .facts import Facts


#: What the name of the task begins with that P2P has between its inputs and its outputs.
BARRIER = "shuffle-barrier"
#: What the names of tasks of P2P begin with, which wait for what other workers do. What it rechunks comes out
#: as `rechunk`, as it does without P2P.
TOGETHER = (
    BARRIER,
    "shuffle-transfer",
    "p2p",
    "hash-join-transfer",
    "hashjoinp2p",
    "rechunk-transfer",
    "rechunk-merge-rechunk-transfer",
    "rechunk-merge-rechunk-split-rechunk-transfer",
)
#: What joblib, and with it scikit-learn, calls its tasks, which are batches of so many calls, or of `n`.
_OF_JOBLIB = re.compile(r"(?:mixed_)?batch_of_.*_(\d+|n)_calls")


def most(
    facts: Facts, rows: np.ndarray, weight: np.ndarray | None = None, share: float = 0.1
) -> tuple[str, ...]:
    """Task names of some attempts, those with most of them (or of their weight) first.

    Parameters
    ----------
    share
        Names with less than this share of the first's are left out.
    """
    codes = facts.prefix.codes[rows]
    return facts.worst(np.bincount(codes, weight, len(facts.names)).astype("f8"), facts.names, share)


def carried_by(facts: Facts, transfers: np.ndarray) -> tuple[str, ...]:
    """Task names of the results that some transfers (ids) carried, those with most bytes first."""
    table = facts.read("transferred")
    rows = np.flatnonzero(np.isin(table["transfer"], transfers))
    described = Lookup(facts.read("graph")["task"]).rows(table["task"][rows])
    rows, described = rows[described >= 0], described[described >= 0]
    symbols = facts.prefix_of(described)
    nbytes = np.maximum(np.nan_to_num(table["nbytes"][rows]), 1.0)
    return facts.worst(np.bincount(symbols.codes, nbytes, len(symbols.names)), symbols.names)


def workers_of(facts: Facts, rows: np.ndarray) -> tuple[str, ...]:
    """Workers of some attempts, those with most of them first."""
    worker = facts.attempts.worker
    count = np.bincount(worker.codes[rows], minlength=len(worker.names)).astype("f8")
    return facts.worst(count, worker.names, 0.0)


def split(symbols: Symbols, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Some rows by the text that stands there, in their order."""
    return {symbols.names[code]: rows[those] for code, those in by_code(symbols.codes[rows]).items()}


def by_code(codes: np.ndarray, some: np.ndarray | None = None) -> dict[int, np.ndarray]:
    """The rows of each code, in their order: of all, or of those for which `some` is true."""
    rows = np.arange(len(codes)) if some is None else np.flatnonzero(some)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    ordered = codes[rows]
    first = np.flatnonzero(np.diff(ordered)) + 1
    return {int(codes[part[0]]): part for part in np.split(rows, first) if len(part)}


def of_workers(facts: Facts, workers: Iterable[str]) -> np.ndarray:
    """Which attempts were given to some workers."""
    return is_any(facts.attempts.worker, set(workers))


def quoted(names: tuple[str, ...], most_of: int = 2) -> str:
    """Some task names in words; 'tasks' if there are none."""
    if not names:
        return "tasks"
    others = ["others"] if len(names) > most_of else []
    return words.listing([*(f"`{name}`" for name in names[:most_of]), *others])


def own_workers(facts: Facts) -> frozenset[str]:
    """Workers that run in the client's process, as those of `LocalCluster(processes=False)` do."""
    return frozenset(name for name, told in facts.workers.items() if told["own"])


def of_joblib(name: str) -> bool:
    """Whether tasks of a name are batches of joblib's."""
    return _OF_JOBLIB.fullmatch(name) is not None


def calls_each(facts: Facts, name: str) -> int:
    """How many calls tasks of a name make for joblib, by their groups; 0 if they are none of joblib's."""
    if not of_joblib(name):
        return 0
    rows = facts.attempts.described[facts.good & (facts.prefix.codes == facts.names.index(name))]
    counts = by_name(pick(facts.read("graph")["group"], rows), _calls, 0)
    return int(np.median(counts[counts > 0])) if counts.any() else max(1, _calls(name))


def _calls(name: str) -> int:
    match = _OF_JOBLIB.fullmatch(name)
    return int(match[1]) if match and match[1] != "n" else 0


def called(name: str, otherwise: str = "function") -> str:
    """What code calls that does what tasks of a name do."""
    can_be_called = name.isidentifier() and not iskeyword(name) and not of_joblib(name)
    return name if can_be_called else otherwise


def resources_option(resources: Mapping[str, float]) -> str:
    """The option of `dask worker` that gives it resources, as a shell takes it."""
    given = " ".join(f"{name}={amount:.15g}" for name, amount in resources.items())
    return f"--resources {shlex.quote(words.in_a_line(given))}"


def mapped(facts: Facts, function: str, items: str) -> str:
    """Code that runs a function on each of some items."""
    if facts.all_local:
        return f"results = dask.compute(*map(dask.delayed({function}), {items}))"
    return f"futures = client.map({function}, {items})"
