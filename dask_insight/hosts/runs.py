"""The runs that this process keeps, by name."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from html import escape

from .. import words
from ..legible import printed
from ..recording import Recording
from ..words import short

#: Most runs kept that nobody gave a name.
_UNNAMED = 20

#: Of a cell of a table; notebooks put text to the right.
_LEFT = 'dir="auto" style="text-align:left"'


class _Kept:
    """A run.

    Parameters
    ----------
    recording
        What was recorded.
    origin
        What a later run of the same origin replaces; '' for a run that a person named.
    """

    def __init__(self, recording: Recording, origin: str) -> None:
        self.recording = recording
        self.origin = origin
        self._told: tuple[int, tuple[str, str]] = (-1, ("", ""))

    def told(self) -> tuple[str, str]:
        """When it began, and what is to be said of it; found out once for all that has come."""
        recording = self.recording
        if self._told[0] != (end := recording.end):
            when = words.dated(recording.started)
            said = recording.summary(findings=False).verdict().replace("`", "")
            self._told = end, (f"{when:%H:%M:%S}" if when else "–", said)
        return self._told[1]


class Runs(Mapping[str, Recording]):
    """What ``%%dprofile`` recorded in this process, by name; the newest last.

    ::

        dask_insight.runs                      # lists them
        dask_insight.runs["fit"]               # shows one again
        dask_insight.runs[-1]                  # the newest
        dask_insight.runs["fit"].save("fit.dinsight")
        del dask_insight.runs["fit"]

    A run with the name of an earlier one takes its place. A run without a name
    is named after its cell, and replaces that cell's earlier run.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def keep(self, name: str, recording: Recording, *, origin: str = "") -> None:
        """Keep a run, as it is; the earlier ones are put away.

        Parameters
        ----------
        name
            Its name; an earlier run of that name is forgotten.
        recording
            What was recorded.
        origin
            For a run that nobody named: where it came from; an earlier one of
            that origin is forgotten, and of all such runs the last 20 are kept.
        """
        with self._lock:
            same = [key for key, kept in self._kept.items() if origin and kept.origin == origin]
            for key in {name, *same} & self._kept.keys():
                del self._kept[key]
            self._kept[name] = _Kept(recording, origin)
            unnamed = [key for key, kept in self._kept.items() if kept.origin]
            for key in unnamed[:-_UNNAMED]:
                del self._kept[key]
        self._put_away()

    def _put_away(self) -> None:
        """Have all but the newest take little memory; see `Recording.put_away`."""
        with self._lock:
            recordings = [kept.recording for kept in self._kept.values()]
        for recording in recordings[:-1]:
            if recording is not recordings[-1]:
                recording.put_away()

    def __getitem__(self, name: str | int) -> Recording:
        with self._lock:
            return self._kept[self._named(name)].recording

    def __delitem__(self, name: str | int) -> None:
        with self._lock:
            del self._kept[self._named(name)]

    def __iter__(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._kept))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __len__(self) -> int:
        return len(self._kept)

    def _named(self, name: str | int) -> str:
        """The name of a run, which may be told by its place in their order."""
        names = list(self._kept)
        if isinstance(name, int) and -len(names) <= name < len(names):
            return names[name]
        if isinstance(name, str) and name in self._kept:
            return name
        known = words.listing(map(repr, names))
        raise KeyError(f"no run {name!r}; " + (f"there are {known}" if known else "none is kept"))

    def clear(self) -> None:
        """Forget all runs."""
        with self._lock:
            self._kept.clear()

    def __repr__(self) -> str:
        if not self:
            return "No run is kept. %%dprofile NAME at the top of a cell records one."
        rows = [("run", "began", "kept", "what"), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = (
            "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]))
            for row in rows
        )
        return printed("\n".join(lines))

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{escape(repr(self))}</p>"

        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag} {_LEFT}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = "".join(line("td", row) for row in self._rows())
        head = line("th", ("run", "began", "kept", "what"))
        return f"<table>{head}{rows}</table>"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        with self._lock:
            runs = list(self._kept.items())
        told = [(name, kept.recording, *kept.told()) for name, kept in runs]
        # Who lists them looks at none.
        self._put_away()
        return [
            (short(name, 40), began, words.size(recording.history.size), said)
            for name, recording, began, said in told
        ]


runs = Runs()
