"""``dask-insight report``: a recording as one HTML file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...errors import CommandError, ExitCode
from .browser import show
from .command import Command
from .files import SUFFIX, apart, open_file, size_of, writable, write_report
from .prose import tell_path

_HELP = "write a recording as one HTML file that opens anywhere"
_DESCRIPTION = "Write a recording as one HTML file that opens anywhere, without network or server."
_EXAMPLES = """\
examples:
  dask-insight report train.dinsight                 writes train.html beside it
  dask-insight report train.dinsight -o a.html
  dask-insight report train.dinsight --open          and opens it in the browser
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument(
        "-o", "--output", metavar="HTML", help="where to write; by default beside the recording"
    )
    parser.add_argument("--open", action="store_true", help="open it in the browser")
    parser.add_argument("--force", action="store_true", help="replace a file that dask-insight did not make")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    source = Path(options.file)
    stem = source.with_suffix("") if source.suffix == SUFFIX else source
    recording = open_file(options.file, quiet=True)
    target = writable(options.output or f"{stem}.html", options.force, text=True)
    apart(target, read=[options.file])
    write_report(recording, target)
    tell_path(target)
    print(f"{size_of(target)}, one file that needs nothing else", file=sys.stderr)
    if options.open and not show(target):
        raise CommandError(f"there is no browser here: open {target.absolute()} in yours")
    return ExitCode.OK


REPORT = Command("report", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
