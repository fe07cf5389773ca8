"""``dask-insight info``: a recording in a few lines."""

from __future__ import annotations

import argparse

from ...errors import ExitCode
from .command import Command
from .files import open_file

_HELP = "say in a few lines what is in a recording"
_DESCRIPTION = "Say in a few lines what is in a recording."
_EXAMPLES = """\
examples:
  dask-insight info train.dinsight
  dask-insight info --json train.dinsight | jq .tasks
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument("--json", action="store_true", help="as one JSON object, for programs")


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    recording = open_file(options.file)
    print(recording.summary())
    return ExitCode.OK


INFO = Command("info", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
