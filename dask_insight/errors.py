"""What can go wrong in a command, and the exit code that says so."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How `dask-insight` ends; `dask-insight run` so only where the program it ran ended well.

    Attributes
    ----------
    meaning
        In words.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        made = int.__new__(cls, code)
        made._value_ = code
        made.meaning = meaning
        return made

    OK = 0, "it did what it was asked for"
    FAILED = 1, "something failed that has no code of its own"
    USAGE = 2, "the command line is wrong"
    UNREADABLE = 3, "a file is not there, is not a recording, or is of a newer version"
    UNWRITABLE = 4, "a file is there already, its folder is not, or it could not be written"
    UNREACHABLE = 5, "no scheduler answers at the address"
    SLOWER = 6, "compare --fail-if-slower: it is slower than that, and not by chance"
    FOUND = 7, "findings --fail-on: there are findings of that severity"
    INTERRUPTED = 130, 'Ctrl-C where it does not mean "finish"'


class CommandError(Exception):
    """A command cannot do what it was asked for; the message is one line that names the cure."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code
