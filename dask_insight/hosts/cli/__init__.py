"""The command ``dask-insight``: one module for each of its commands."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence

from ... import frames
from ...errors import CommandError, ExitCode
from ...legible import harmless, legible
from .attach import ATTACH
from .command import Command
from .compare import COMPARE
from .demo import DEMO
from .export import EXPORT
from .files import SUFFIX, quoted, to_look_at, unnamed_file
from .findings import FINDINGS
from .import_ import IMPORT
from .info import INFO
from .report import REPORT
from .run import RUN
from .signals import Termination
from .streams import all_streams
from .what_if import WHAT_IF

__all__ = ["main"]

_COMMANDS: tuple[Command, ...] = (RUN, ATTACH, REPORT, INFO, FINDINGS, WHAT_IF, COMPARE, EXPORT, IMPORT, DEMO)
#: A full disk, and one on which nobody may take more of it; Windows has no quotas of this kind.
_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
#: What the parser answers by itself.
_ASKS = {"-h", "--help", "--version"}
#: What people write where `report` is meant.
_SHOW = {"open", "show", "view"}
_DESCRIPTION = "See where the time of a Dask computation went."
_EXAMPLES = """\
examples:
  dask-insight demo                           record a small cluster at work and show it
  dask-insight run train.py --epochs 3        record any program that uses Dask
  dask-insight attach tcp://10.0.0.1:8786     record a running cluster until Ctrl-C
  dask-insight report train.dinsight --open   look at a recording in the browser
  dask-insight info train.dinsight            the same in a few lines of text
  dask-insight findings train.dinsight        what cost time, and what would help
  dask-insight what-if train.dinsight         how much faster it could be, and what would make it so
  dask-insight compare a.dinsight b.dinsight  what differs, and whether that is noise
  dask-insight export train.dinsight --to chrome   for Perfetto; speedscope, pprof, Parquet … too
  dask-insight import trace.msgpack           files of other tools: cluster dumps, reports …

`dask-insight COMMAND --help` has more on each command.
"""
_CODES = "".join(f"\n  {code:<3}  {code.meaning}" for code in ExitCode)
_EPILOG = f"{_EXAMPLES}\nexit codes (`run` ends as the program does, unless that ended well):{_CODES}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        Without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit code; see `errors.ExitCode`.
    """
    with all_streams():
        given = [*(sys.argv[1:] if arguments is None else arguments)]
        with legible():
            parser = _parser()
            if cure := _without_command(given):
                parser.error(harmless(cure))
            options = parser.parse_args(given)
            if unnamed := unnamed_file(options):
                parser.error(unnamed)
            if options.execute is not RUN.execute:
                # Files that are not whole are taken away before it ends.
                with Termination() as termination, termination.raising():
                    return _executed(options)
        # What a program prints is its own.
        return _executed(options)


def _without_command(arguments: Sequence[str]) -> str:
    """What to type where there is no command, or a file in its place; '' elsewhere."""
    if not arguments:
        return "name a command: `dask-insight --help` tells which there are"
    if arguments[0] in _ASKS or arguments[0] in {command.name for command in _COMMANDS}:
        return ""
    named = [each for each in arguments if not each.startswith("-")]
    shows = named[:1] != [] and named[0] in _SHOW
    file = next(iter(named[shows:]), f"FILE{SUFFIX}" if shows else "")
    if file.endswith(SUFFIX) or frames.holds_recording(file):
        return f"to look at it: {to_look_at(file)}"
    if not os.path.isfile(file):
        return ""
    if file.endswith(".py"):
        return f"to record it: dask-insight run {quoted(file)}"
    return f"open it in a browser: {file}" if file.endswith(".html") else ""


def _executed(options: argparse.Namespace) -> int:
    try:
        code = int(options.execute(options))
        if options.execute is not RUN.execute:
            sys.stdout.flush()
        return code
    except CommandError as error:
        print(f"dask-insight: {harmless(str(error))}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        if options.execute is RUN.execute:
            raise
        print("dask-insight: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except OSError as error:
        if options.execute is RUN.execute or not (_nobody_reads(error) or error.errno in _FULL):
            raise
        if error.errno in _FULL:
            print(f"dask-insight: its output could not be written: {error.strerror}", file=sys.stderr)
        # What is left would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FAILED


def _nobody_reads(error: OSError) -> bool:
    """Whether the other end of a pipe has gone, of which Windows only says that something is invalid."""
    return error.errno == (errno.EINVAL if sys.platform == "win32" else errno.EPIPE)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dask-insight",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        of_command = commands.add_parser(
            command.name,
            help=command.help,
            description=command.description,
            epilog=command.examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.arguments(of_command)
        of_command.set_defaults(execute=command.execute)
    return parser


class _Version(argparse.Action):
    """Finds the version only when somebody asks."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"dask-insight {version('dask_insight')}")
        parser.exit(ExitCode.OK)
