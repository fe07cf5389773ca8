"""``dask-insight info``: a recording in a few lines."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ...errors import ExitCode
from ...words import dated, duration, share, short
from .command import Command
from .files import all_findings, open_file
from .json_ import as_json
from .progress import saying
from .prose import tell

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "say in a few lines what is in a recording"
_DESCRIPTION = "Say in a few lines what is in a recording."
_EXAMPLES = """\
examples:
  dask-insight info train.dinsight
  dask-insight info --json train.dinsight | jq .tasks
"""
_NAMES = 5


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument(
        "--json", action="store_true", help="as one JSON object, for programs; times in seconds"
    )


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    recording = open_file(options.file, quiet=True)
    with saying("Summing up"):
        told = _json(recording) if options.json else describe(recording, options.file)
    if options.json:
        print(told)
    else:
        tell(told)
    return ExitCode.OK


def _json(recording: Recording) -> str:
    """What is in a recording, as a JSON object."""
    facts = recording.summary()._asdict()
    return as_json(facts | {"rows": dict(_rows(recording)), "gaps": recording.gaps})


def describe(recording: Recording, file: str = "FILE") -> str:
    """What is in a recording, in some lines of text; `file` is where a person finds it."""
    summary = recording.summary()
    if "comparison" in summary.facts and not summary.tasks:
        from ...analysis.compare import Comparison

        return f"{summary.name}\n{Comparison(recording)}"
    advised = summary.advised(whole=all_findings(file))
    lines = [summary.name or "Dask computation", summary.verdict(), *advised, ""]
    if began := dated(summary.started):
        lines.append(f"started    {began.isoformat(' ', 'seconds')}")
    lines.append(f"ran on     {summary.place()}")
    ended = [f"{summary.erred:,} failed"] if summary.erred else []
    ended += [f"{summary.retried:,} retried"] if summary.retried else []
    ended += [f"{summary.rescheduled:,} rescheduled"] if summary.rescheduled else []
    lines.append(f"tasks      {', '.join([f'{summary.tasks:,}', *ended])}")
    title = "most time"
    for name, seconds in summary.names[:_NAMES]:
        part = f" ({share(seconds / summary.computing)})" if summary.computing > 0 else ""
        lines.append(f"{title:<11}{duration(seconds)}{part} {short(name, 120)}")
        title = ""
    rows = [f"{table} {number:,}" for table, number in _rows(recording)]
    lines.append(f"rows       {', '.join(rows) or 'none'}")
    lines += [f"lost       {loss}" for loss in summary.losses]
    lines += [f"damaged    {gap}" for gap in recording.gaps]
    return "\n".join(lines)


def _rows(recording: Recording) -> Iterator[tuple[str, int]]:
    """Tables that have rows, and how many can be read."""
    from ...batch import BatchError, decode
    from ...schema import TABLES

    rows = dict.fromkeys(TABLES, 0)
    for batch in recording.batches():
        with suppress(BatchError):
            decoded = decode(batch)
            rows[decoded.table] = rows.get(decoded.table, 0) + decoded.rows
    return ((table, number) for table, number in rows.items() if number)


INFO = Command("info", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
