"""The path as a DataFrame and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import summed_by_one
from ...batch import Symbols, Texts, intern
from ...columns import forget, take_texts
from ...heap import give_back_between
from ...lookup import TextRows, pick
from ...schema import NOTHING
from ...tables.tasks import gather_for, make
from ...timeline import by_cluster, one_cluster
from .history import Read
from .walk import KINDS, REASONS, USED, path

if TYPE_CHECKING:
    import pandas as pd

_BY = ("prefix", "kind", "because", "worker", "group", "cluster")


def critical_path(
    read: Read, started: float, by: str | None = None, cluster: str | None = None
) -> pd.DataFrame:
    """The table of `Recording.critical_path`."""
    import pandas as pd

    if by is not None:
        by = summed_by_one(by, _BY)
    parts = by_cluster(read) if cluster is None else {cluster: one_cluster(read, cluster)[1]}
    tables = [_frame(part, started, name) for name, part in parts.items()]
    table = pd.concat(tables, ignore_index=True) if len(tables) > 1 else tables[0]
    # Of what never ran the task alone tells what it is.
    ids = table[["task", "run", "cluster"]]
    changed = (ids != ids.shift()).any(axis=1)
    table.insert(3, "step", changed.cumsum() - 1)
    return table if by is None else _sums(table, by)


def _frame(read: Read, started: float, cluster: str) -> pd.DataFrame:
    """The path of one scheduler."""
    import pandas as pd

    columns = make(read, (*USED, "key", "prefix", "group"))
    tiles = path(read, columns)
    rows, start, stop = tiles.row, tiles.start - started, tiles.stop - started
    return pd.DataFrame(
        {
            "start": start,
            "stop": stop,
            "seconds": stop - start,
            "kind": pd.Categorical.from_codes(tiles.kind, KINDS),
            "because": pd.Categorical.from_codes(tiles.because, REASONS),
            "prefix": _names(columns["prefix"], rows),
            "key": _keys(columns["key"], rows),
            "group": _names(columns["group"], rows),
            "worker": _names(columns["worker"], rows),
            "thread": _names(columns["thread"], rows),
            "task": _ids(columns["task"], rows).astype("i8"),
            "run": _ids(columns["run"], rows).astype("i8"),
            "cluster": cluster,
        }
    )


def critical_rows(read: Read) -> dict[str, Any]:
    """The paths as columns of the table ``critical``, that of the scheduler with most work first."""
    gather_for(read("attempts"), read("executions"), USED)
    give_back_between()
    tables = [_rows(part, name) for name, part in by_cluster(read).items()]
    return {name: _together([table[name] for table in tables]) for name in tables[0]}


def _rows(read: Read, cluster: str) -> dict[str, Any]:
    """The path of one scheduler."""
    columns = make(read, USED)
    # The walk needs other tables, and much memory besides.
    forget(read("graph"))
    give_back_between()
    tiles = path(read, columns)
    rows = tiles.row
    return {
        "start": tiles.start,
        "stop": tiles.stop,
        "kind": _coded(tiles.kind, KINDS),
        "because": _coded(tiles.because, REASONS),
        "task": _ids(columns["task"], rows),
        "run": _ids(columns["run"], rows),
        "worker": _symbols(columns["worker"], rows),
        "thread": _symbols(columns["thread"], rows),
        "cluster": Symbols(np.zeros(len(rows), "u4"), [cluster]),
    }


def _together(parts: list[Any]) -> Any:
    """One column after another."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Symbols):
        return intern([text for part in parts for text in part.tolist()])
    return np.concatenate(parts)


def _sums(table: pd.DataFrame, by: str) -> pd.DataFrame:
    import pandas as pd

    grouped = table.groupby(by, observed=True)
    parts = pd.DataFrame(index=grouped.size().index)
    if by != "kind":
        parts = table.groupby([by, "kind"], observed=True)["seconds"].sum().unstack("kind", fill_value=0.0)
        parts.columns = [str(name) for name in parts.columns]
        parts = parts.reindex(columns=KINDS, fill_value=0.0)
    parts.insert(0, "seconds", grouped["seconds"].sum())
    parts.insert(1, "share", parts["seconds"] / max(table["seconds"].sum(), 1e-300))
    parts.insert(2, "steps", grouped["step"].nunique())
    return parts.sort_values("seconds", ascending=False)


def _symbols(symbols: Symbols, rows: np.ndarray) -> Symbols:
    found: Symbols = pick(symbols, rows)
    return found


def _names(symbols: Symbols, rows: np.ndarray) -> Any:
    from ...tables.frame import text_column

    codes, names = _symbols(symbols, rows)
    return text_column(Texts.of(names), codes.astype("i8"))


def _keys(keys: Any, rows: np.ndarray) -> Any:
    """Texts of some rows, without decoding the others."""
    from ...tables.frame import text_column

    if isinstance(keys, TextRows):
        keys, rows = keys.texts, np.where(rows >= 0, keys.rows[np.maximum(rows, 0)], -1)
    known = rows >= 0
    return text_column(take_texts(keys, rows[known]), np.where(known, np.cumsum(known) - 1, -1))


def _coded(codes: np.ndarray, names: Sequence[str]) -> Symbols:
    """With the names that there are, in the order in which they are met."""
    used, first = np.unique(codes, return_index=True)
    used = used[np.argsort(first)]
    place = np.zeros(len(names), "u4")
    place[used] = np.arange(len(used))
    return Symbols(place[codes], [names[code] for code in used.tolist()])


def _ids(ids: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.where(rows >= 0, ids[np.maximum(rows, 0)] if len(ids) else NOTHING, NOTHING).astype("u4")
