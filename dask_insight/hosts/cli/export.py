"""``dask-insight export``: a recording in another tool's format."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...arguments import TASK_NAME
from ...errors import CommandError, ExitCode
from ...exports import ALL, FORMATS, export, format_of, suffix_of
from ...figures.defaults import OVERVIEW, SCALE, WIDTH
from ...figures.panels import PANELS
from .command import Command
from .files import SUFFIX, apart, open_file, place, quoted, size_of
from .progress import Progress, bar
from .prose import tell_path

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
  dask-insight export train.dinsight --to png              an overview as a picture
  dask-insight export train.dinsight --to svg --panel task-stream --start 10 --stop 20 --scheme dark
  dask-insight export train.dinsight --to svg --panel all -o pictures
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument("--to", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write; by default beside the recording"
    )
    parser.add_argument("--force", action="store_true", help="replace what is there")
    pictures = parser.add_argument_group("pictures: svg, png")
    pictures.add_argument(
        "--panel",
        choices=(OVERVIEW, *PANELS, ALL),
        metavar="PANEL",
        help=f"{', '.join((OVERVIEW, *PANELS))}; {ALL}: a folder with each; default {OVERVIEW}",
    )
    for name, meaning in (("start", "from this second on"), ("stop", "up to this second")):
        pictures.add_argument(f"--{name}", type=float, metavar="SECONDS", help=f"only {meaning}")
    pictures.add_argument(
        "--prefix", action="append", metavar="NAME", help="only this task name; may be repeated"
    )
    pictures.add_argument(
        "--worker", action="append", metavar="NAME", help="only this worker; may be repeated"
    )
    pictures.add_argument(
        "--measures", action="append", metavar="NAME", help="resources: only this measure; may be repeated"
    )
    pictures.add_argument("--by", choices=("measure", *TASK_NAME), help="memory: default measure")
    pictures.add_argument("--unit", metavar="UNIT", help="fine-metrics: default seconds")
    pictures.add_argument("--width", type=float, metavar="PIXELS", help=f"default {WIDTH:g}")
    pictures.add_argument("--height", type=float, metavar="PIXELS", help="by default what suits the panel")
    pictures.add_argument("--scheme", choices=("light", "dark"), help="default light")
    pictures.add_argument(
        "--scale", type=float, metavar="FACTOR", help=f"pixels of a PNG in one of --width; default {SCALE:g}"
    )


def _asked(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """What is asked of a picture; nothing of what a format does not have."""
    pictures = FORMATS["png"].options
    asked = {each: value for each in pictures if (value := getattr(options, each, None)) is not None}
    if unknown := [each for each in asked if each not in FORMATS[name].options]:
        raise CommandError(f"--{unknown[0]} is for pictures, not for {name}", ExitCode.USAGE)
    return asked


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    name = options.to or (format_of(options.output) if options.output else None)
    if name is None:
        raise CommandError(_unsaid(options.file, options.output or ""), ExitCode.USAGE)
    source = Path(options.file)
    stem = source.with_suffix("") if source.suffix == SUFFIX else source
    asked = _asked(options, name)
    panel = asked.get("panel", OVERVIEW)
    end = f"-{name}" if panel == ALL or not FORMATS[name].suffix else FORMATS[name].suffix
    shown = "" if panel in (OVERVIEW, ALL) else f"-{panel}"
    target = place(options.output or f"{stem}{shown}{end}")
    apart(target, read=[source])
    progress = Progress()
    try:
        recording = open_file(options.file)
        export(recording, target, name, force=options.force, told=_shown(progress, target), **asked)
    except (FileExistsError, FileNotFoundError) as error:
        told = str(error).replace("force=True", "use --force")
        raise CommandError(told, ExitCode.UNWRITABLE) from None
    except ImportError as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        # Of a recording that cannot be read, `open_file` tells; what is left is what was asked for.
        raise CommandError(str(error), ExitCode.USAGE) from None
    except OSError as error:
        raise CommandError(f"{target} could not be written: {error}", ExitCode.UNWRITABLE) from None
    finally:
        progress.clear()
    tell_path(target)
    size = size_of(target) if target.is_file() else "a folder"
    print(f"{size}; {FORMATS[name].opens}", file=sys.stderr)
    return ExitCode.OK


def _unsaid(file: str, output: str) -> str:
    """What to do where neither an option nor the file's name says a format."""
    end = suffix_of(output)
    if end in FORMATS:
        return f"{output}: {end} is a folder of all tables, as --to {end} -o tables"
    if end == "html":
        return f"{output}: a page is a report, as `dask-insight report {quoted(file)} -o {quoted(output)}`"
    if f".{end}" == SUFFIX:
        return f"{output}: {file} is a recording already: copy it"
    return f"name a format with --to, or a file whose name says it: {', '.join(FORMATS)}"


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
        progress.show(f"{bar(share)} {share:4.0%}{left}  {target.name}")

    return told


EXPORT = Command("export", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
