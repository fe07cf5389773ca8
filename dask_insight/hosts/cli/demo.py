"""``dask-insight demo``: record a small cluster at work and show it."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from ...errors import ExitCode
from .browser import show
from .command import Command
from .files import apart, recorded, size_of, writable, write_report
from .info import describe
from .progress import Progress, bar
from .prose import tell

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "record a small cluster at work and show it"
_DESCRIPTION = """\
Start a cluster of two worker processes on this machine, compute something on
it for some seconds, and leave a recording and its report.
"""
_EXAMPLES = """\
examples:
  dask-insight demo
  dask-insight demo --no-open -o mine.dinsight --html mine.html
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="demo.dinsight", help="default demo.dinsight"
    )
    parser.add_argument("--html", metavar="FILE", default="demo.html", help="default demo.html")
    parser.add_argument("--no-open", action="store_true", help="do not open the report in the browser")
    parser.add_argument("--force", action="store_true", help="replace files that dask-insight did not make")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    output = writable(options.output, options.force, grows=True)
    html = writable(options.html, options.force, text=True)
    apart(output, html)
    progress = Progress()
    from ...session import record
    from ..demo import STEPS, cluster, perform

    steps = [step for step in STEPS if step.possible]
    progress.line("Starting a cluster: 2 worker processes of 2 threads")
    with cluster() as client, recorded(record(output, client=client, name="demo"), output) as recording:
        count = _Count(recording, progress)
        for number, step in enumerate(steps, 1):
            count.begin(f"[{number}/{len(steps)}] {step.name:<12}")
            began = perf_counter()
            perform(step)
            count.end()
            progress.line(
                f"[{number}/{len(steps)}] {step.name:<12}{perf_counter() - began:5.1f} s  {step.about}"
            )
    progress.show("Writing the report")
    write_report(recording, html)
    progress.clear()
    tell(describe(recording, options.output))
    print(f"\nrecording  {output.absolute()} ({size_of(output)})")
    print(f"report     {html.absolute()} ({size_of(html)})")
    if not options.no_open and sys.stdout.isatty():
        show(html)
    return ExitCode.OK


class _Count:
    """Shows how many tasks of a step have ended, of those that the scheduler knows."""

    def __init__(self, recording: Recording, progress: Progress) -> None:
        self._progress = progress
        self._title = ""
        self._began = 0.0
        self._known: set[int] = set()
        self._ended: set[int] = set()
        if progress.live:
            recording.on_append(self._appended)

    def begin(self, title: str) -> None:
        """A step begins, and all before have ended."""
        self._known, self._ended, self._began = set(), set(), time()
        self._title = title
        self._show()

    def end(self) -> None:
        """It has ended."""
        self._title = ""

    def _appended(self, batch: bytes) -> None:
        from ...batch import decode, table_of

        if table_of(batch) not in ("graph", "attempts") or not self._title:
            return
        columns: Any = decode(batch).columns
        tasks = columns["task"].tolist()
        if "done" not in columns:
            self._known.update(tasks)
        else:
            done, status = columns["done"].tolist(), columns["status"].tolist()
            self._known -= {task for task, at in zip(tasks, done, strict=True) if at < self._began}
            self._ended.update(task for task, how in zip(tasks, status, strict=True) if how == "ok")
        self._show()

    def _show(self) -> None:
        known, ended = len(self._known), len(self._ended & self._known)
        tasks = f"{ended:>5,} of {known:,} tasks" if known else ""
        self._progress.show(f"{self._title}{bar(ended / known if known else 0)} {tasks}")


DEMO = Command("demo", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
