"""What a command of the command line is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """One command."""

    name: str
    #: One line, for the list of commands.
    help: str
    #: A paragraph, and examples, for its own help.
    description: str
    examples: str
    #: Declares its options.
    arguments: Callable[[argparse.ArgumentParser], None]
    #: Runs it and gives the exit code.
    execute: Callable[[argparse.Namespace], int]
