"""``dask-insight info``: a recording in a few lines."""

from __future__ import annotations

import argparse

from ...errors import ExitCode
from .files import open_file

HELP = "say in a few lines what is in a recording"
DESCRIPTION = "Say in a few lines what is in a recording."
EXAMPLES = """\
examples:
  dask-insight info train.dinsight
  dask-insight info --json train.dinsight | jq .tasks
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    parser.add_argument("--json", action="store_true", help="as one JSON object, for programs")


def execute(options: argparse.Namespace) -> int:
    """Run the command."""
    recording = open_file(options.file)
    print(recording.summary())
    return ExitCode.OK
