"""The report of what still runs, written anew from time to time."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

from ... import words
from ...current import current
from ...errors import CommandError, ExitCode
from . import times
from .recorder import idle

if TYPE_CHECKING:
    from ...recording import Recording

#: Most of the time that writing takes.
_SHARE = 0.1
#: Seconds between two looks at whether there is something to show.
_LOOK = 0.5


def report_options(parser: argparse.ArgumentParser) -> None:
    """Options for the report of every command that records."""
    parser.add_argument("--html", metavar="FILE", help="write the report there, too")
    parser.add_argument(
        "--every",
        metavar="TIME",
        type=times.seconds,
        help="have that report there while it runs, as a page that brings itself up to date this often: 30s; "
        "less often where writing it would take more than a tenth of the time",
    )


def check(options: argparse.Namespace) -> None:
    """See to it that `report_options` make sense.

    Raises
    ------
    CommandError
        If there is no report that could be written so often.
    """
    if options.every and not options.html:
        told = "--every says how often the report is written: say where, with --html FILE"
        raise CommandError(told, ExitCode.USAGE)


def renewed(
    html: Path | None,
    every: float | None,
    recording: Callable[[], Recording | None],
    say: Callable[[str], None],
    *,
    quiet: bool = False,
) -> AbstractContextManager[object]:
    """Within, the report `html` of a recording in the making is written anew, by a thread of this process.

    What hinders that is said once, and does not end it. What is being written at the end is waited for;
    nothing is written any more then.

    Parameters
    ----------
    html
        The file; None for no report.
    every
        Seconds from one time to the next; more where writing would take over a tenth of the time,
        which is said. None for a report at the end only.
    recording
        Gives what is recorded; None as long as that has not begun.
    say
        Tells a person.
    quiet
        Say only what hinders it.
    """
    return _Renewal(html, every, recording, say, quiet) if html and every else nullcontext()


class _Renewal:
    def __init__(
        self,
        html: Path,
        every: float,
        recording: Callable[[], Recording | None],
        say: Callable[[str], None],
        quiet: bool,
    ) -> None:
        self._named, self._path = html, html.absolute()
        # Pages load themselves again each second at most.
        self._every = self._pace = max(every, 1.0)
        self._recording = recording
        self._say = say
        #: What is not to be said, or not again.
        self._said = {"place", "pace"} if quiet else set[str]()
        self._process = os.getpid()
        self._ended = Event()
        self._thread = Thread(target=self._run, name="dask-insight-report", daemon=True)

    def __enter__(self) -> None:
        try:
            self._thread.start()
        except RuntimeError as error:
            self._tell("trouble", f"{self._named} does not come while it runs: {error}")

    def __exit__(self, *_: object) -> None:
        if os.getpid() != self._process or self._thread.ident is None:
            return
        self._ended.set()
        try:
            self._thread.join()
        finally:
            # An interrupt ends only the waiting: what is being written must not come after the last report.
            self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while not self._ended.wait(pause):
            pause = min(_LOOK, self._every)
            try:
                recording = self._recording()
                if recording is not None and not idle(recording):
                    pause = self._renew(recording)
            except Exception as error:
                self._failed(error)

    def _renew(self, recording: Recording) -> float:
        """Write it; returns the seconds until that is due again."""
        began = monotonic()
        try:
            _write(recording, self._path, self._pace)
        except Exception as error:
            self._failed(error)
        else:
            often = words.duration(self._every)
            told = f"open {self._named} in a browser: it brings itself up to date every {often}"
            self._tell("place", told)
        took = monotonic() - began
        self._pace = max(self._every, took / _SHARE)
        if self._pace > self._every:
            slow = f"{self._named} takes {words.duration(took)} to write"
            told = f"{slow}: it comes every {words.duration(self._pace)}, for a tenth of the time at most"
            self._tell("pace", told)
        return self._pace - took

    def _failed(self, error: Exception) -> None:
        why = str(error) or type(error).__name__
        self._tell("trouble", f"{self._named} could not be written, and is tried again: {why}")

    def _tell(self, what: str, text: str) -> None:
        """Say it, of its kind only once."""
        if what not in self._said:
            self._said.add(what)
            self._say(text)


@current
def _write(recording: Recording, path: Path, every: float) -> None:
    from ..report import write_report

    write_report(recording, path, renewed=every)
