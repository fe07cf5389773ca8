"""``dask-insight findings``: what cost time or puts a run at risk, for people and for CI."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import CommandError, ExitCode
from ...legible import ascii_json
from .command import Command
from .files import open_run
from .progress import saying
from .prose import tell

if TYPE_CHECKING:
    from ...analysis.findings import Findings

_HELP = "say what cost time or puts the run at risk, and what would help"
_DESCRIPTION = """\
Say what cost time in a recording or puts the run at risk: the most important first, each with what it
costs, the figures behind it, why it happened and what to do.
"""
_EXAMPLES = """\
examples:
  dask-insight findings train.dinsight
  dask-insight findings --json train.dinsight | jq '.findings[].code'
  dask-insight findings --fail-on warning train.dinsight
  dask-insight findings --threshold tiny-tasks.mean=0.02 --threshold all.seconds=0.1 train.dinsight

With --fail-on the exit code is 7 where there are findings of that severity or a higher one, and 1 where no
task ran or something could not be judged. `dask-insight findings --rules` prints every finding and threshold.
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument("--rules", action=_Rules)
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    parser.add_argument(
        "--fail-on",
        choices=("info", "warning", "critical"),
        metavar="SEVERITY",
        help="end with exit code 7 if there are findings of this severity: info, warning or critical",
    )
    parser.add_argument(
        "--threshold",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=_threshold,
        help="compare with another value; may be given several times",
    )


class _Rules(argparse.Action):
    """Prints the reference, which needs no recording."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        told = "print what is looked for, how, and every threshold (Markdown), and exit"
        super().__init__(option_strings, dest, nargs=0, help=told)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from ...analysis.findings.reference import markdown

        print(markdown(), end="")
        parser.exit(ExitCode.OK)


def _threshold(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not (name and equals and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE, such as tiny-tasks.mean=0.02")
    return name.strip(), number


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    recording = open_run(options.file)
    try:
        with saying("Looking for what cost time"):
            found = recording.findings(dict(options.threshold))
            verdict = "" if options.json else recording.summary(findings=False).verdict()
    except ValueError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    if options.json:
        print(ascii_json(found.to_json()))
    else:
        tell(verdict)
        tell(found)
    return _judged(found, options.fail_on)


def _judged(found: Findings, severity: str | None) -> ExitCode:
    """The exit code, and on the standard error what led to it."""
    if severity is None:
        return ExitCode.OK
    if not (bad := found.at_least(severity)):
        if not found.judged:
            raise CommandError(
                "where no task ran, nothing can be judged: record a run that computes something"
            )
        if found.failed:
            unknown = ", ".join(each.code for each in found.failed)
            raise CommandError(f"could not be judged: {unknown}; why stands with the findings")
        return ExitCode.OK
    codes = ", ".join(dict.fromkeys(each.code for each in bad))
    print(f"dask-insight: findings of severity {severity} or higher: {codes}", file=sys.stderr)
    return ExitCode.FOUND


FINDINGS = Command("findings", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
