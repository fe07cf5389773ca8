"""What of a recording is to be drawn, and how."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import words
from ..arguments import between, known_prefixes, known_processes, titles_of, whole
from ..batch import Symbols
from ..columns import steady
from ..lookup import is_any
from .colors import Rgb, colors_of
from .theme import Theme, theme_of

if TYPE_CHECKING:
    from ..recording import Recording

#: Most stretches into which time is divided where amounts over time are drawn.
BINS = 400
#: Share of the whole time that may lie around the tasks and is shown with them; room beside them otherwise,
#: as a share of their time. Reports have the same.
_LITTLE, _ROOM = 0.1, 1 / 32


def recording_of(run: Any, taker: str, wanted: str = "a Recording") -> Recording:
    """What somebody wants drawn; a comparison shows itself by its rows.

    Raises
    ------
    TypeError
        If it is something else.
    """
    found: Recording = getattr(run, "recording", run)
    if not hasattr(found, "started"):
        raise TypeError(f"{taker} takes {wanted}, not a {type(found).__name__}")
    return found


class Request:
    """A recording, what is asked of it, and what several panels need of it.

    Parameters
    ----------
    recording
        What is drawn.
    start, stop
        Only this time, seconds since `Recording.started`.
    prefix, worker
        Only these task names; only these workers, by name or address.
    theme
        ``'light'`` or ``'dark'``.
    limit
        Most rectangles in a drawing.

    Raises
    ------
    TypeError, ValueError
        If a task name or worker is not in the recording, a time is no number, or `stop` is not after `start`.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        start: float | None = None,
        stop: float | None = None,
        prefix: str | Sequence[str] | None = None,
        worker: str | int | Sequence[str | int] | None = None,
        theme: str = "light",
        limit: int = 20_000,
    ) -> None:
        self._start, self._stop = between(start, stop)
        if not self._stop > self._start:
            raise ValueError(f"stop={stop} is not after start={start}")
        self.recording = recording
        self._read = steady(recording.columns)
        self.theme: Theme = theme_of(theme)
        self.limit = whole("limit", limit, least=1)
        self.prefixes = None if prefix is None else frozenset(known_prefixes(self.columns, prefix))
        self.workers = None if worker is None else frozenset(known_processes(self.columns, worker))

    def columns(self, table: str) -> Any:
        """Columns of a table, always the same ones, times in seconds since the epoch."""
        return self._read(table)

    @cached_property
    def zero(self) -> float:
        """The moment from which seconds count."""
        return self.recording.started

    @cached_property
    def between(self) -> tuple[float, float]:
        """The time that is shown, seconds since the start: what is asked for, else that of the tasks.

        All that was recorded where little of it lies around them, as in a report.
        """
        begin, end = self._around_tasks()
        low, high = 0.0, max(end, self._last("resources", "time"), self._last("memory", "time"))
        length = end - begin
        if length > 0 and high - length >= _LITTLE * high:
            low, high = max(low, begin - _ROOM * length), min(high, end + _ROOM * length)
        low = self._start if np.isfinite(self._start) else low
        high = self._stop if np.isfinite(self._stop) else high
        return (low, high) if high > low else (low, low + 1.0)

    def _around_tasks(self) -> tuple[float, float]:
        """From the first submission to the last result; without tasks they are no times."""
        table = self.columns("attempts")
        first = min(float(np.nanmin(table[name], initial=np.inf)) for name in ("submitted", "start"))
        return first - self.zero, max(self._last("attempts", "done"), self._last("attempts", "stop"))

    def _last(self, table: str, column: str) -> float:
        return float(np.nanmax(self.columns(table)[column], initial=-np.inf)) - self.zero

    @property
    def wanted(self) -> tuple[float, float]:
        """The time that is asked for, seconds since the start; infinite where it is open."""
        return self._start, self._stop

    @property
    def bounded(self) -> bool:
        """Whether only a part of the time is wanted."""
        return bool(np.isfinite(self._start) or np.isfinite(self._stop))

    @property
    def span(self) -> float:
        """Seconds that are shown."""
        return self.between[1] - self.between[0]

    @cached_property
    def names(self) -> list[str]:
        """All task names in the order of the recording, by which they have their colours."""
        graph: Symbols = self.columns("graph")["prefix"]
        return list(graph.names)

    @cached_property
    def colors(self) -> dict[str, Rgb]:
        """Colour of each task name; of the empty one, where a task's name is not known, too."""
        return colors_of(dict.fromkeys((*self.names, "")), dark=self.theme.dark)

    @cached_property
    def titles(self) -> dict[str, str]:
        """How each worker is called, by its address."""
        return titles_of(self.columns)

    def title_of(self, worker: str) -> str:
        """A worker's name as people read it."""
        name = self.titles.get(worker, worker)
        if name.isdecimal():
            return f"worker {name}"
        return (name.partition("://")[2] or name) if name else "no worker"

    def wants(self, symbols: Symbols, chosen: frozenset[str] | None) -> np.ndarray:
        """Rows whose text is among those chosen; all where None is."""
        if chosen is None:
            return np.ones(len(symbols.codes), bool)
        return is_any(symbols, chosen)

    def caption(self) -> str:
        """What is shown, for whoever has only the drawing."""
        parts = [str(self.recording.about.get("name") or "")]
        if self.bounded:
            parts.append(" to ".join(words.duration(each) for each in self.between))
        if self.prefixes is not None:
            parts.append(words.listing(sorted(self.prefixes)))
        if self.workers is not None:
            parts.append(words.listing(sorted(map(self.title_of, self.workers))))
        return " · ".join(part for part in parts if part)
