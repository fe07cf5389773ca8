"""Modules that were imported on an event loop: tasks and graphs are unpacked there."""

from __future__ import annotations

from keyword import iskeyword
from typing import NamedTuple

import numpy as np

from ... import words
from ...lookup import Lookup
from ...tables.modules import imported_modules
from ...tables.stacks import imported
from ...timeline import Moments
from .facts import Facts

#: Share of the samples from which imports are to blame, and of some moments of which there must be samples.
_BLAMED, _SAMPLED = 0.5, 0.2


class Sampled(NamedTuple):
    """Call stacks of an event loop at some moments."""

    start: np.ndarray
    stop: np.ndarray
    #: How long each lasted within these moments, and its row of ``stacks``.
    seconds: np.ndarray
    row: np.ndarray


class Imports(NamedTuple):
    """What was imported meanwhile."""

    #: Whether that took most of the time.
    hold_up: bool
    #: Share of the loop's samples in which it was, 0 to 1, and the module that took longest.
    share: float
    module: str

    def said(self) -> str:
        """How much that was, in a sentence."""
        return f"For {words.share(self.share)} of that time it imported `{self.module}`."


def sampled(facts: Facts, process: str, within: Moments) -> Sampled:
    """What was seen on the event loop of a process at some moments."""
    samples = facts.read("samples")
    mine, thread = (
        np.array([name == wanted for name in samples[column].names] or [False])[samples[column].codes]
        for column, wanted in (("process", process), ("thread", "event loop"))
    )
    rows = np.flatnonzero(mine & thread)
    stop = samples["time"][rows]
    start = stop - samples["duration"][rows]
    seconds = within.within(start, stop)
    rows, start, stop, seconds = (each[seconds > 0] for each in (rows, start, stop, seconds))
    row = Lookup(facts.read("stacks")["stack"]).rows(samples["stack"][rows])
    return Sampled(start, stop, seconds, row)


def imports(facts: Facts, process: str, within: Moments) -> Imports:
    """What the event loop of a process imported at some moments, as far as it was sampled."""
    stacks, seen = facts.read("stacks"), sampled(facts, process, within)
    module = np.append(imported(stacks), -1)[seen.row]
    some = module >= 0
    if not some.any():
        return Imports(False, 0.0, "")
    share = float(seen.seconds[some].sum() / seen.seconds.sum())
    when = Moments.of(seen.start[some], seen.stop[some]).both(within)
    much = share >= _BLAMED and when.seconds >= _SAMPLED * within.seconds
    return Imports(much, share, next(iter(imported_modules(stacks, module[some], seen.seconds[some])), ""))


def beforehand(*modules: str) -> str:
    """What to do about imports of workers."""
    names, what = [*dict.fromkeys(map(importable, modules))], "it" if len(modules) == 1 else "them"
    preloads = " ".join(f"--preload {name}" for name in names)
    return (
        f"Have every worker import {what} beforehand, once, beside whatever else happens.\n\n"
        f"{_warm_up(*names)}"
        "    client.run(warm_up)\n"
        f"    # or when workers start: dask worker ADDRESS {preloads}"
    )


def before_graphs(module: str) -> str:
    """What to do about imports of the scheduler."""
    module = importable(module)
    return (
        f"Have the scheduler import it before the first graph comes.\n\n{_warm_up(module)}"
        "    client.run_on_scheduler(warm_up)\n"
        f"    # or when it starts: dask scheduler --preload {module}"
    )


def _warm_up(*modules: str) -> str:
    return f"    def warm_up():\n        import {', '.join(modules)}\n"


def importable(module: str) -> str:
    """What code calls a module; MODULE stands for one that code cannot name."""
    parts = module.split(".")
    named = all(part.isidentifier() and not iskeyword(part) for part in parts)
    return module if named and not module.endswith(".py") else "MODULE"
