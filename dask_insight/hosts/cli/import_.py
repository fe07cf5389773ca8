"""``dask-insight import``: files of other tools as a recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import CommandError, ExitCode
from ...legible import harmless
from ...sources.files import FORMATS, load
from .command import Command
from .files import apart, expanded, reading, recording_file, size_of
from .progress import Progress, bar
from .prose import tell_path

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "make a recording from files of other tools"
_DESCRIPTION = "Make a recording from files of other tools; several files become one.\n" + "\n".join(
    f"  {each.name:<11} {each.written_by}" for each in FORMATS.values()
)
_EXAMPLES = """\
The format is recognised by what stands in the file; .gz files are unpacked. What a file does not hold is
missing in the recording, and its panels say so. Nothing in a file is run or unpickled.

examples:
  dask-insight import dask-report.html                   Dask's performance_report
  dask-insight import dump.msgpack.gz -o run.dinsight    Client.dump_cluster_state("dump")
  dask-insight import stream.json                        json.dump(stream.data, file, default=str)
  dask-insight import run-TracePlugin-*.msgpack run-ResourceMonitor-*.msgpack -o run.dinsight
  dask-insight report run.dinsight --open
"""
#: Ends of names that say what a file is; a recording's name is the rest.
_SUFFIXES = {".gz", ".html", ".json", ".msgpack", ".speedscope", ".trace", ".yaml", ".yml"}


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files of one format")
    parser.add_argument("--from", dest="format", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the recording; by default beside the first file, under a new name",
    )
    parser.add_argument("--force", action="store_true", help="replace what is there")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    options.files = expanded(options.files)
    with recording_file(options.output, _stem(Path(options.files[0])), options.force) as target:
        if options.output and target.exists() and not options.force:
            # Perhaps the one that the file was exported from, which held more.
            told = f"{target} is there already: choose another name with -o, or use --force"
            raise CommandError(told, ExitCode.UNWRITABLE)
        apart(target, read=options.files)
        recording = _imported(options, target)
    tell_path(target)
    said = [f"{size_of(target)}: {recording.summary().verdict()}"]
    said += [*recording.about.get("lacks", {}).values(), *map(str, recording.gaps)]
    print(harmless("\n".join(said)), file=sys.stderr)
    return ExitCode.OK


def _imported(options: argparse.Namespace, target: Path) -> Recording:
    progress = Progress()
    with reading():
        try:
            recording = load(
                *options.files,
                format=options.format,
                progress=lambda share: progress.show(f"reading {bar(share)} {share:4.0%}"),
            )
            progress.show("writing")
            _save(recording, target)
        finally:
            progress.clear()
    return recording


def _save(recording: Recording, target: Path) -> None:
    try:
        recording.save(target)
    except OSError as error:
        raise CommandError(f"{target} could not be written: {error}", ExitCode.UNWRITABLE) from None


def _stem(path: Path) -> str:
    """What the recording of a file is called: run for run.trace.json.gz."""
    while path.suffix.lower() in _SUFFIXES:
        path = path.with_suffix("")
    return str(path)


IMPORT = Command("import", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
