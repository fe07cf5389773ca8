"""``dask-insight export``: a recording in another tool's format."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ...errors import CommandError, ExitCode
from ...exports import FORMATS, export, format_of
from .command import Command
from .files import SUFFIX, open_file, size_of
from .progress import Progress, bar

#: Seconds between two looks at the progress; seconds that are worth telling.
_EVERY, _LONG = 0.1, 2.0
_HELP = "write a recording in another tool's format"
_DESCRIPTION = "Write a recording in another tool's format:\n" + "\n".join(
    f"  {each.name:<11} {each.opens}" for each in FORMATS.values()
)
_EXAMPLES = """\
examples:
  dask-insight export train.dinsight --to chrome           train.trace.json, for https://ui.perfetto.dev
  dask-insight export train.dinsight -o train.pb.gz        the name says the format
  dask-insight export train.dinsight --to parquet -o out   a folder
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument("--to", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write; by default beside the recording"
    )
    parser.add_argument("--force", action="store_true", help="replace what is there")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    name = options.to or (format_of(options.output) if options.output else None)
    if name is None:
        known = ", ".join(FORMATS)
        raise CommandError(f"name a format with --to, or a file whose name says it: {known}", ExitCode.USAGE)
    source = Path(options.file)
    stem = source.with_suffix("") if source.suffix == SUFFIX else source
    target = Path(options.output or f"{stem}{FORMATS[name].suffix or '-' + name}")
    progress = Progress()
    progress.show(f"Reading {source}")
    try:
        recording = open_file(options.file)
        export(recording, target, name, force=options.force, told=_shown(progress, target))
    except (FileExistsError, FileNotFoundError) as error:
        told = str(error).replace("force=True", "use --force")
        raise CommandError(told, ExitCode.UNWRITABLE) from None
    except ImportError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{target} could not be written: {error}", ExitCode.UNWRITABLE) from None
    finally:
        progress.clear()
    print(target)
    size = size_of(target) if target.is_file() else "a folder"
    print(f"{size}; {FORMATS[name].opens}", file=sys.stderr)
    return ExitCode.OK


def _shown(progress: Progress, target: Path) -> Callable[[float], None]:
    """Shows the share that is written, and how long the rest will take."""
    began, last = time.monotonic(), 0.0

    def told(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _EVERY:
            return
        last = now
        rest = (now - began) * (1 - share) / share if share else 0.0
        left = f"  {rest:.0f} s left" if rest >= _LONG else ""
        progress.show(f"Writing {target}  {bar(share)} {share:4.0%}{left}")

    return told


EXPORT = Command("export", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
