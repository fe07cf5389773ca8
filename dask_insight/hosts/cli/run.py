"""``dask-insight run``: record any program that uses Dask, without changing it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import CommandError, ExitCode
from ...legible import legible
from . import times
from .command import Command
from .files import SUFFIX, apart, begun, lacking, new_path, size_of, writable, write_report
from .program import Program, load_module, load_script
from .ranks import of_rank, rank
from .signals import Termination

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "record a program that uses Dask"
_DESCRIPTION = """\
Record a program that uses Dask. The program is not changed: its own clusters
and local schedulers are found as they appear, and its arguments, output, exit
code and signals pass through. However it ends, the recording is complete.
"""
_EXAMPLES = """\
examples:
  dask-insight run train.py --epochs 3          writes train.dinsight
  dask-insight run -o run.dinsight train.py
  dask-insight run --html run.html train.py     the report as well
  dask-insight run -m mypackage.train           like python -m
  dask-insight run --no-profile --resources 1s train.py
  mpirun -n 8 dask-insight run train.py         writes train-rank1.dinsight,
                                                and of each other rank that uses Dask
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"the recording; by default a new file named after the program, *{SUFFIX}",
    )
    parser.add_argument("--html", metavar="FILE", help="write the report there, too")
    recording_options(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, as in python -m")
    parser.add_argument("program", metavar="PROGRAM", help="a script, or with -m a module")
    parser.add_argument("arguments", metavar="...", nargs=argparse.REMAINDER, help="its arguments")


def recording_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that records."""
    parser.add_argument("--name", metavar="NAME", help="what to call the run in the report")
    parser.add_argument("--no-profile", action="store_true", help="take no call stacks")
    parser.add_argument("--no-source", action="store_true", help="keep no source code, only where it stands")
    parser.add_argument(
        "--resources",
        metavar="DT",
        type=times.interval,
        default="200ms",
        help="time between two looks at CPU, memory, network and disk (default 200ms)",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that dask-insight did not make")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    load = load_module if options.module else load_script
    program = load(options.program, options.arguments)
    number = rank()
    if options.output:
        output = writable(of_rank(Path(options.output), number), options.force)
    else:
        output = new_path(of_rank(Path(program.name + SUFFIX), number).stem)
    html = writable(of_rank(Path(options.html), number), options.force, text=True) if options.html else None
    apart(output, html)
    _record(program, output, html, options, number is not None)
    return ExitCode.OK


def _record(
    program: Program, output: Path, html: Path | None, options: argparse.Namespace, among: bool
) -> None:
    """Run the program and record it; `among` others that a launcher started with it, it may be no part."""
    from ...session import record

    session = record(
        output,
        name=options.name or program.name,
        profile=not options.no_profile,
        resources=options.resources,
        source=not options.no_source,
    )
    with Termination() as termination:
        begun(session, output)
        lacks: list[str] = []
        try:
            try:
                with termination.raising():
                    program.run()
            finally:
                with lacking() as lacks:
                    session.stop()
        except BaseException:
            program.hide_our_frames()
            raise
        finally:
            if session.ours and among and _idle(session.recording):
                output.unlink(missing_ok=True)
            elif session.ours:
                _conclude(session.recording, output, html, lacks, options.quiet)


def _idle(recording: Recording) -> bool:
    """Whether a process had nothing to do with Dask, or was itself a scheduler or a worker."""
    workers: Any = recording.columns("workers")["pid"]
    tasks: Any = recording.columns("graph")["task"]
    return not len(workers) and not len(tasks)


def _conclude(recording: Recording, output: Path, html: Path | None, lacks: list[str], quiet: bool) -> None:
    """Write the report and say where everything is; however the program ended, that is what passes on."""
    try:
        if html is not None:
            write_report(recording, html)
        if lacks or not quiet:
            with legible():
                print(f"dask-insight: {outcome(recording, output, html, lacks)}", file=sys.stderr)
    except CommandError as error:
        print(f"dask-insight: {error}", file=sys.stderr)
    except Exception as error:
        print(f"dask-insight: {output} is complete, but {type(error).__name__}: {error}", file=sys.stderr)


def outcome(recording: Recording, output: Path, html: Path | None, lacks: Sequence[str] = ()) -> str:
    """What has been recorded and where it is, or what the file lacks, in words."""
    from ...words import count, duration

    summary = recording.summary()
    if not summary.tasks and not summary.erred:
        graph: Any = recording.columns("graph")
        happened = "ended" if len(graph["task"]) else "was run"
        return f"no Dask task {happened}; {output} holds {size_of(output)}"
    ended = count(summary.tasks, "task") + (f" and {summary.erred:,} failed" if summary.erred else "")
    if lacks:
        whole = f"; {html} has all of it" if html else ""
        return f"{ended} in {duration(summary.duration)}, but {lacks[0]}{whole}"
    where = f"{output} ({size_of(output)})" + (f" and {html} ({size_of(html)})" if html else "")
    hint = "" if html else f"\ndask-insight: to look at it: dask-insight report {output} --open"
    found = "".join(f"\ndask-insight: {line}" for line in summary.advised())
    return f"{ended} in {duration(summary.duration)}, recorded in {where}{found}{hint}"


RUN = Command("run", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
