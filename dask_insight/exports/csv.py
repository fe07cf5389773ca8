"""A folder with every table as CSV: texts in quotes, nothing where a number is missing.

Texts that begin with ``=``, ``+``, ``-`` or ``@`` are left as they are, and a spreadsheet may take them for
formulas: have it import the columns as text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..batch import Symbols, Texts
from ..lookup import TextRows
from .files import replaced_folder
from .lines import Fixed, Part, Unique, Where, Whole, Words, gathered, lines, plain_text, whole
from .progress import Steps, Told, silent
from .tabular import Rows, expected, files, filled

if TYPE_CHECKING:
    from ..recording import Recording

#: Decimals of moments and durations: microseconds.
_DECIMALS = 6
#: Largest whole number that every program reads as it is written.
_EXACT = 2.0**53


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write ``tasks.csv``, ``transfers.csv`` … and ``describe.csv``, what their columns mean."""
    steps = Steps(told, expected(recording))
    with replaced_folder(path, files(".csv")) as folder:
        for table in filled(recording):
            with (folder / f"{table.name}.csv").open("wb") as file:
                file.write(",".join(table.columns).encode() + b"\n")
                for rows, text in lines(len(table), *_parts(table, recording.started)):
                    file.write(text)
                    steps.add(rows)
        recording.describe().to_csv(folder / "describe.csv", index=False)


def _parts(table: Rows, started: float) -> Iterator[bytes | Part]:
    for number, (values, moments) in enumerate(table.values().values()):
        if number:
            yield b","
        if isinstance(values, Symbols):
            yield Words(values.codes, [_quoted(name) for name in values.names])
        elif isinstance(values, Texts | TextRows):
            yield from (b'"', _Quoted(values), b'"')
        else:
            yield _Numbers(np.asarray(values), started if moments else None)
    yield b"\n"


def _quoted(text: str) -> bytes:
    doubled = text.replace('"', '""').encode("utf-8", "replace")
    return b'"' + doubled + b'"' if text else b""


class _Quoted(Unique):
    """Texts with their quotes doubled."""

    def __getitem__(self, rows: slice) -> Unique:
        texts = plain_text(gathered(self._texts, rows))
        begin, end = int(texts.offsets[0]), int(texts.offsets[-1])
        if b'"' in bytes(texts.data[begin:end]):
            texts = Texts.of(text.replace('"', '""') for text in texts.tolist())
        return Unique(texts)


class _Numbers:
    """Numbers in the shortest of three forms that says them exactly: whole, with six decimals, any."""

    def __init__(self, values: np.ndarray, started: float | None) -> None:
        self._values, self._started = values, started
        self._part: Any = None

    def __getitem__(self, rows: slice) -> _Numbers:
        part = _Numbers(self._values[rows], self._started)
        part._part = part._chosen()
        return part

    def _chosen(self) -> Part:
        values = self._values
        if values.dtype.kind != "f":
            return Whole(values.astype("i8"))
        there = np.isfinite(values)
        if self._started is not None:
            return Where(there, Fixed(values - self._started, _DECIMALS))
        known = values[there].astype("f8")
        if (np.abs(known) < _EXACT).all():
            if (known == np.rint(known)).all():
                return Where(there, Whole(whole(values)))
            if (whole(known, 10.0**-_DECIMALS) / 10.0**_DECIMALS == known).all():
                return Where(there, Fixed(values, _DECIMALS))
        return Unique(Texts.of("" if value != value else repr(value) for value in values.tolist()))

    @property
    def width(self) -> int:
        return int(self._part.width)

    def fill(self, out: np.ndarray) -> None:
        self._part.fill(out)
