"""``dask-insight run``: record any program that uses Dask, without changing it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from ...arguments import whole
from ...errors import ExitCode
from ...frames import current_folder
from ...legible import harmless, legible
from ...options import Options
from ...probe.logs import LEVELS
from . import times
from .command import Command
from .files import (
    SUFFIX,
    all_findings,
    apart,
    holds_anything,
    lacking,
    new_path,
    rescued,
    reserve,
    size_of,
    to_look_at,
    trouble_with_report,
    writable,
)
from .program import Program, load_module, load_script
from .progress import saying
from .ranks import own, rank
from .recorder import Recorder, idle
from .renewal import check, renewed, report_options
from .signals import ENDING, Termination

if TYPE_CHECKING:
    from ...recording import Recording
    from ...session import Session

_HELP = "record a program that uses Dask"
_ENDING = ", ".join(each.name for each in ENDING)
_DESCRIPTION = f"""\
Record a program that uses Dask. The program is not changed: its own clusters
and local schedulers are found as they appear, and its arguments, output, exit
code and signals pass through. However it ends, the recording is complete; only where
it is killed, or leaves by os._exit, the last seconds are missing, and nothing is said.
What its threads do when it has failed is missing too, which is said.
These end it in good order where it does not handle them itself, as Ctrl-C does:
{_ENDING}.
One that comes again more than 30 s after the program's end does not wait for the rest of
the recording any more: what was written stays.

Recording begins when the program has imported Dask, which imports NumPy: set
environment variables that either reads (DASK_*, OMP_NUM_THREADS) before that.
Ends with 4 if the program ended well and a file could not be written.
"""
_EXAMPLES = """\
examples:
  dask-insight run train.py --epochs 3          writes train.dinsight
  dask-insight run -o run.dinsight train.py
  dask-insight run --html run.html train.py     the report as well
  dask-insight run --html run.html --every 30s train.py
                                                and while it runs, to watch it
  dask-insight run -m mypackage.train           like python -m
  dask-insight run --no-profile --resources 1s train.py
  mpirun -n 8 dask-insight run train.py         writes train-rank1.dinsight,
                                                and of each other rank that uses Dask
  dask-insight run -o run.dinsight train.py     in a job array: run-task7.dinsight,
                                                and so of each other member
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=(
            f"the recording, instead of an earlier one of that name; by default a new file named after the "
            f"program, *{SUFFIX}"
        ),
    )
    report_options(parser)
    recording_options(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but errors")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module, as in python -m")
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        nargs=argparse.PARSER,
        help="a script, or a folder or zip archive with __main__.py, or with -m a module; and its arguments",
    )


def recording_options(parser: argparse.ArgumentParser) -> None:
    """Options of every command that records."""
    parser.add_argument("--name", metavar="NAME", help="what to call the run in the report")
    parser.add_argument("--no-profile", action="store_true", help="take no call stacks")
    parser.add_argument("--no-source", action="store_true", help="keep no source code, only where it stands")
    parser.add_argument(
        "--resources",
        metavar="DT",
        type=times.seconds,
        default="200ms",
        help="time between two looks at CPU, memory, network and disk (default 200ms)",
    )
    parser.add_argument(
        "--logs",
        choices=tuple(LEVELS),
        default=Options.logs,
        help=f"the least level of the processes' logs that is kept (default {Options.logs})",
    )
    parser.add_argument(
        "--ring",
        metavar="ROWS",
        type=_rows,
        default=Options.ring,
        help=f"most rows that the scheduler keeps until they are fetched (default {Options.ring:,})",
    )
    parser.add_argument("--force", action="store_true", help="replace a file that dask-insight did not make")


def recording_arguments(options: argparse.Namespace) -> dict[str, Any]:
    """What `recording_options` chose, as arguments of `record`."""
    return {
        "profile": not options.no_profile,
        "resources": options.resources,
        "source": not options.no_source,
        "logs": options.logs,
        "ring": options.ring,
    }


def _rows(text: str) -> int:
    """A number of rows; for `argparse`."""
    try:
        return whole("ROWS", float(text.replace(",", "").replace("_", "")), 1)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of rows; write it like 5_000_000") from None


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    check(options)
    load = load_module if options.module else load_script
    # What parts it from our options is not the program's; later ones are.
    name, *arguments = options.program[options.program[0] == "--" :]
    program = load(name, arguments)
    html = writable(own(Path(options.html)), options.force, text=True) if options.html else None
    if options.output:
        output = writable(own(Path(options.output)), options.force, grows=True)
    else:
        output = new_path(own(Path(program.name + SUFFIX)).stem)
    apart(output, html)
    make = partial(_session, output.absolute(), options.name or program.name, options)
    # Of ranks without Dask no file stays, not even of another run.
    spares = rank() is None and holds_anything(output)
    recorder = Recorder(make, reserve(output), spares=spares)
    files = _Files(output, html, options.every, current_folder(), options.quiet)
    return _record(program, recorder, files, rank() is not None)


def _session(output: Path, name: str, options: argparse.Namespace) -> Session:
    from ...session import record

    return record(output, name=name, **recording_arguments(options))


class _Files(NamedTuple):
    """What is written, as it was named; the program may go to another folder meanwhile."""

    output: Path
    html: Path | None
    every: float | None
    folder: Path
    quiet: bool


def _record(program: Program, recorder: Recorder, files: _Files, among: bool) -> ExitCode:
    """Run the program and record it; `among` others that a launcher started with it, it may be no part."""
    code = ExitCode.OK
    # The program may put another stream in its place for a while.
    say = partial(_say, stream=sys.stderr)
    watched = renewed(files.html, files.every, lambda: recorder.recording, say, quiet=files.quiet)
    with Termination() as termination:
        lacks: list[str] = []
        try:
            # The recording is complete before a report that is being written is waited for.
            with watched:
                try:
                    with termination.raising(), recorder.watching():
                        program.run()
                finally:
                    with lacking() as lacks:
                        recorder.stop(program.left, program.why_left)
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise
        except BaseException:
            program.hide_our_frames()
            raise
        finally:
            recording = recorder.recording
            if recorder.ours and among and recording is not None and idle(recording):
                (files.folder / files.output).unlink(missing_ok=True)
            elif recorder.ours:
                code = _conclude(recorder, files, lacks)
    return code


def _conclude(recorder: Recorder, files: _Files, lacks: list[str]) -> ExitCode:
    """Write the report and say where everything is; returns how to end if the program ended well."""
    recording, (output, html, _, folder, quiet) = recorder.recording, files
    if recording is None and recorder.refused is None:
        if not quiet:
            named = f"{output} is what was there before" + (f", and {html} not written" if html else "")
            _say(f"the program did not import Dask: nothing was recorded, and {named}")
        return ExitCode.OK
    if recording is None:
        _say(f"the program was not recorded: {type(recorder.refused).__name__}: {recorder.refused}")
        return ExitCode.UNWRITABLE if isinstance(recorder.refused, OSError) else ExitCode.FAILED
    code = ExitCode.UNWRITABLE if lacks else ExitCode.OK
    try:
        lacks = [rescued(recording, folder / output, lack) for lack in lacks]
        if html and (trouble := trouble_with_report(recording, folder / html, quiet=quiet)):
            _say(str(trouble))
            html, code = None, trouble.code
        if lacks or not quiet:
            with legible():
                with saying("Summing up", quiet=quiet):
                    told = outcome(recording, output, html, lacks, folder, cured=not quiet)
                _say(told)
        if recorder.lost and not quiet:
            _say(recorder.lost)
    except Exception as error:
        said = lacks[0] if lacks else "is complete"
        _say(f"{output} {said}, but {type(error).__name__}: {error}")
    return code


def _say(what: str, stream: TextIO | None = None) -> None:
    # The program may have closed its streams.
    with suppress(OSError, ValueError):
        print(f"dask-insight: {harmless(what)}", file=stream or sys.stderr)


def outcome(
    recording: Recording,
    output: Path,
    html: Path | None,
    lacks: Sequence[str] = (),
    folder: Path = Path(),
    *,
    cured: bool = False,
) -> str:
    """What has been recorded and where it is, or what the file lacks, in words.

    Parameters
    ----------
    recording
        What has been recorded.
    output, html
        Its file and its report, named from `folder`.
    lacks
        What became of the file if it is not complete.
    folder
        Where the command was given; by default this folder.
    cured
        Where nothing was seen, say when Dask works.
    """
    from ...words import count, duration

    summary = recording.summary()
    advised = summary.advised(whole=all_findings(output))
    if not summary.tasks and not summary.erred:
        graph: Any = recording.columns("graph")
        happened = "ended" if len(graph["task"]) else "was run"
        said = lacks[0] if lacks else f"holds {size_of(folder / output)}"
        advice = filter(None, [*advised, summary.cure() if cured else ""])
        found = "".join(f"\ndask-insight: {line}" for line in advice)
        return f"no Dask task {happened}{summary.stood()}; {output} {said}{found}"
    ended = count(summary.tasks, "task") + (f" and {summary.erred:,} failed" if summary.erred else "")
    if lacks:
        whole = f"; {html} has all of it" if html else ""
        return f"{ended} in {duration(summary.duration)}, but {output} {lacks[0]}{whole}"
    page = f" and {html} ({size_of(folder / html)})" if html else ""
    where = f"{output} ({size_of(folder / output)}){page}"
    hint = "" if html else f"\ndask-insight: to look at it: {to_look_at(output)}"
    found = "".join(f"\ndask-insight: {line}" for line in advised)
    return f"{ended} in {duration(summary.duration)}, recorded in {where}{found}{hint}"


RUN = Command("run", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
