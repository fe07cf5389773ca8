"""What stands under a cell while it runs: counts, and a bar for each task name."""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from typing import Any

from ... import words
from ...legible import harmless
from ...store import Store
from ...threads import begun
from ...words import short
from ..cli.progress import bar
from .counts import Counts, GroupCount

#: Seconds after which a cell is worth a word.
_FIRST = 0.5
#: Least seconds between two words.
_INTERVAL = 0.5
#: Most task names in one of them.
_MOST = 12

#: Puts a MIME bundle under the cell, in place of the one before.
Show = Callable[[dict[str, Any]], None]


class Progress:
    """Shows how far a recording's tasks are, from a thread of its own, until it is stopped.

    Parameters
    ----------
    name, recording
        What is recorded.
    show
        Is called with each word; what it raises ends the progress.
    at_once
        Whether the first word comes before the constructor returns.
    """

    def __init__(self, name: str, recording: Store, show: Show, *, at_once: bool) -> None:
        self._name = name
        self._show = show
        self._counts = Counts()
        self._came: deque[bytes] = deque()
        self._stopped = threading.Event()
        self._began = time.monotonic()
        self._said = ""
        if at_once:
            self._say(as_text(name, self._counts))
        self._unfollow = recording.on_append(self._came.append)
        self._thread: threading.Thread | None = None
        with suppress(RuntimeError):
            # Without a thread the cell runs all the same, and shows its result alone.
            run = partial(contextvars.copy_context().run, self._run)
            self._thread = begun(run, "dask-insight-progress")
        if self._thread is None:
            self._unfollow()

    def stop(self) -> None:
        """Show nothing more; returns when nothing more can come."""
        self._stopped.set()
        self._unfollow()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._show_changes()
        finally:
            # Nobody takes any more what comes.
            self._unfollow()

    def _show_changes(self) -> None:
        pause = _FIRST
        while not self._stopped.wait(pause):
            began = time.monotonic()
            while self._came:
                self._counts.take(self._came.popleft())
            text = as_text(self._name, self._counts)
            if text != self._said:
                self._say(text)
            # On a busy machine most of the time is left to the computation.
            pause = max(_INTERVAL, 20 * (time.monotonic() - began))

    def _say(self, text: str) -> None:
        self._said = text
        elapsed = time.monotonic() - self._began
        bundle = {"text/html": as_html(self._name, self._counts, elapsed), "text/plain": text}
        try:
            self._show(bundle)
        except Exception:
            # Nobody to show it to is no reason to disturb the cell.
            self._stopped.set()


def as_text(name: str, counts: Counts) -> str:
    """Progress as plain text."""
    groups, left = _shown(counts)
    width = max((len(short(each.name, 30)) for each in groups), default=0)
    lines = [f"{name}: {_headline(counts)}"]
    lines += [
        f"  {short(each.name, 30):<{width}}  {bar(_share(each))} {_amount(each)}".rstrip() for each in groups
    ]
    return harmless("\n".join(lines + ([f"  and {words.count(left, 'more name')}"] if left else [])))


def as_html(name: str, counts: Counts, elapsed: float) -> str:
    """Progress as a plain table."""
    groups, left = _shown(counts)
    duration = f" · {words.duration(elapsed)}" if elapsed >= _FIRST else ""
    head = f"<p><b>{escape(short(name, 120))}</b> {_headline(counts)}{duration}</p>"
    rows = "".join(
        f'<tr><td dir="auto" style="text-align:left">{escape(short(each.name, 40))}</td>'
        f'<td><progress max="1" value="{_share(each):.3f}"></progress></td><td>{_amount(each)}</td></tr>'
        for each in groups
    )
    more = f"<p>and {words.count(left, 'more name')}</p>" if left else ""
    return head + (f"<table>{rows}</table>" if rows else "") + more


def _headline(counts: Counts) -> str:
    if not counts.total:
        return "recording; no tasks yet"
    text = f"{counts.done:,} of {words.count(counts.total, 'task')}"
    return f"{text}, {counts.erred:,} failed" if counts.erred else text


def _shown(counts: Counts) -> tuple[list[GroupCount], int]:
    """The names that are shown, those at work first, and how many are not."""
    groups = counts.groups()
    order = sorted(groups, key=lambda each: (each.done >= each.total, -each.erred, each.done == 0))
    chosen = set(order[:_MOST])
    return [each for each in groups if each in chosen], max(0, len(groups) - _MOST)


def _share(group: GroupCount) -> float:
    return group.done / group.total if group.total else 0.0


def _amount(group: GroupCount) -> str:
    erred = f", {group.erred:,} failed" if group.erred else ""
    return f"{group.done:,} of {group.total:,}{erred}"
