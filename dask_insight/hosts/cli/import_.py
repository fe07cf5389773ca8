"""``dask-insight import``: files of other tools as a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ...errors import ExitCode
from ...sources.files import FORMATS, load
from .command import Command
from .files import SUFFIX, reading, size_of, writable

_HELP = "make a recording from files of other tools"
_DESCRIPTION = "Make a recording from files of other tools; several files become one.\n" + "\n".join(
    f"  {each.name:<11} {each.written_by}" for each in FORMATS.values()
)
_EXAMPLES = """\
examples:
  dask-insight import run-TracePlugin-*.msgpack run-ResourceMonitor-*.msgpack -o run.dinsight
  dask-insight report run.dinsight --open
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files of one format")
    parser.add_argument("--from", dest="format", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the recording; by default beside the first file"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that dask-insight did not make")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    target = writable(options.output or Path(options.files[0]).with_suffix(SUFFIX), options.force)
    with reading():
        recording = load(*options.files, format=options.format)
    recording.save(target)
    print(target)
    print(f"{size_of(target)}: {recording.summary().verdict()}", file=sys.stderr)
    for gap in recording.gaps:
        print(f"{gap.size:,} bytes at byte {gap.offset:,} could not be read: {gap.reason}", file=sys.stderr)
    return ExitCode.OK


IMPORT = Command("import", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
