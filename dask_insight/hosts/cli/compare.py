"""``dask-insight compare``: what differs between recordings, for people and for CI."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING

from ... import words
from ...errors import CommandError, ExitCode
from ...legible import ascii_json, harmless
from .command import Command
from .files import apart, expanded, reading, writable
from .progress import saying
from .prose import tell

if TYPE_CHECKING:
    from ...analysis.compare import Comparison

_HELP = "say what differs between recordings, and whether that is more than noise"
_DESCRIPTION = """\
Say what differs between recordings: wall time, where the time went, task names, memory, findings,
versions and configuration, and whether that is more than noise.

Each FILE is a side; the first is the baseline, with which the others are compared. Repeated runs of one
thing tell what is noise. They are one side if they are joined by commas: a1.dinsight,a2.dinsight. With
--baseline every FILE is a repeat of the one side that is compared with it.
"""
_EXAMPLES = """\
examples:
  dask-insight compare before.dinsight after.dinsight
  dask-insight compare a1.dinsight,a2.dinsight,a3.dinsight b1.dinsight,b2.dinsight
  dask-insight compare pull-*.dinsight --baseline main-*.dinsight --fail-if-slower 10% --markdown summary.md
  dask-insight compare --html out.html 2-workers.dinsight 4-workers.dinsight 8-workers.dinsight

With --fail-if-slower the exit code is 6 where a side is slower than the baseline by more than the limit
and by more than the noise. Where none is, it is 1 if one broke: more of its tasks failed than of the
baseline, or its recording did not end.
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", metavar="FILE", nargs="*", help="a recording, or repeats: A1,A2,A3")
    parser.add_argument(
        "--baseline",
        metavar="FILE",
        nargs="+",
        help="recordings of what to compare with, named last; all FILEs are one side",
    )
    parser.add_argument("--names", metavar="NAME,NAME", help="what to call the sides, the baseline first")
    parser.add_argument(
        "--fail-if-slower",
        metavar="PERCENT",
        type=_percent,
        help="end with exit code 6 if a side is slower by more than this, such as 10%%, and not by chance",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument("--markdown", metavar="FILE", help="write a summary for a pull request; - prints it")
    parser.add_argument("--html", metavar="FILE", help="write a page that shows it, one file")
    parser.add_argument("-o", "--output", metavar="FILE", help="write it as a recording, to be opened again")
    parser.add_argument("--force", action="store_true", help="replace files that dask-insight did not make")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    from ...analysis.compare import compare

    if options.json and options.markdown == "-":
        raise CommandError("--json and --markdown - both print: write one of them to a file", ExitCode.USAGE)
    output = writable(options.output, options.force) if options.output else None
    to_file = None if options.markdown == "-" else options.markdown
    html, markdown = (
        writable(each, options.force, text=True) if each else None for each in (options.html, to_file)
    )
    sides = _sides(options)
    apart(html, output, markdown, read=[path for side in sides for path in side])
    try:
        with saying("Reading and comparing"), reading():
            comparison = compare(*sides, names=_names(options, sides))
    except ValueError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    try:
        with saying("Writing", quiet=not (html or output)):
            if html is not None:
                comparison.report(html)
            if output is not None:
                comparison.save(output)
        if markdown is not None:
            markdown.write_text(comparison.to_markdown(), encoding="utf-8")
    except (OSError, RuntimeError) as error:
        raise CommandError(f"the comparison could not be written: {error}", ExitCode.UNWRITABLE) from error
    if options.json:
        print(ascii_json(comparison.to_json()))
    elif options.markdown == "-":
        print(comparison.to_markdown(), end="")
    else:
        tell(comparison)
    for path in filter(None, (html, output, markdown)):
        print(f"written to {harmless(str(path))}", file=sys.stderr)
    return _judged(comparison, options.fail_if_slower)


def _judged(comparison: Comparison, limit: float | None) -> ExitCode:
    """The exit code, and on the standard error what led to it."""
    if limit is None:
        return ExitCode.OK
    slower = comparison.slower(limit)
    sides = comparison.sides
    base = float(sides["seconds"].iloc[0])
    for side in sides.to_dict("records")[1:]:
        if not (base > 0 and side["change"] > limit * base):
            continue
        name, baseline = harmless(side["name"]), harmless(sides["name"].iloc[0])
        by = f"{name} is {_share(side['change'] / base)} slower than {baseline}"
        more = f"more than the {_share(limit)} allowed"
        if side["name"] in slower:
            print(f"dask-insight: {by}, {more}", file=sys.stderr)
        else:
            noise = _share(side["noise"] / base)
            print(
                f"dask-insight: {by}, {more}, but the noise is {noise}, so this may be chance: "
                "repeat the runs of both sides to know",
                file=sys.stderr,
            )
    if slower:
        return ExitCode.SLOWER
    if (sides["verdict"] == "unknown").any():
        empty = [harmless(name) for name in sides["name"][~(sides["seconds"] > 0)]]
        raise CommandError(
            f"no task ran in {words.listing(empty)}, so that there is nothing to compare: "
            "record runs that compute something"
        )
    for why in comparison.broken().values():
        raise CommandError(f"{why}, so its time says nothing: compare runs that end well")
    return ExitCode.OK


def _share(part: float) -> str:
    return f"{100 * part:.3g} %" if part < 1 else f"{100 * part:.0f} %"


def _sides(options: argparse.Namespace) -> list[list[str]]:
    """Paths of the runs of each side."""
    given = [_repeats(each) for each in expanded(options.files)]
    if options.baseline and not given:
        raise CommandError(
            "--baseline takes every file that follows it: name the files to compare before it "
            "(`compare pull.dinsight --baseline main.dinsight`)",
            ExitCode.USAGE,
        )
    if options.baseline:
        return [
            [path for each in expanded(options.baseline) for path in _repeats(each)],
            [path for side in given for path in side],
        ]
    if len(given) < 2:
        raise CommandError(
            "one side cannot be compared: name two recordings, or what to compare with as --baseline FILE",
            ExitCode.USAGE,
        )
    return given


def _repeats(text: str) -> list[str]:
    """The paths that commas join, unless there is a file of just that name."""
    return [text] if os.path.exists(text) else [path for path in text.split(",") if path] or [text]


def _names(options: argparse.Namespace, sides: list[list[str]]) -> list[str] | None:
    if options.names is None:
        return None
    names = [name.strip() for name in options.names.split(",")]
    if len(names) != len(sides) or not all(names):
        raise CommandError(
            f"--names {options.names}: {len(sides)} sides take {len(sides)} names, joined by commas",
            ExitCode.USAGE,
        )
    return names


def _percent(text: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage: write it like 10%")
    return float(found[1]) / 100


COMPARE = Command("compare", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
