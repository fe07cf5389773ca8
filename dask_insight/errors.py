"""What can go wrong in a command, and the exit code that says so."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How `dask-insight` ends; `dask-insight run` so only where the program it ran ended well."""

    OK = 0
    #: Something failed that has no code of its own.
    FAILED = 1
    #: The command line is wrong.
    USAGE = 2
    #: A file is not there, is not a recording, or is of a newer version.
    UNREADABLE = 3
    #: A file would have been overwritten, its folder is not there, or it could not be written.
    UNWRITABLE = 4
    #: No scheduler answers at the address.
    UNREACHABLE = 5
    #: `dask-insight compare --fail-if-slower`: it is slower than that, and not by chance.
    SLOWER = 6
    #: `dask-insight findings --fail-on`: there are findings of that severity.
    FOUND = 7
    #: Ctrl-C where it does not mean "finish".
    INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot do what it was asked for; the message is one line that names the cure."""

    def __init__(self, message: str, code: ExitCode = ExitCode.FAILED) -> None:
        super().__init__(message)
        self.code = code
