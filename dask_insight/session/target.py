"""The file that a session records to."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

from .. import frames
from ..recording import Recording

#: Recordings of this process that write to a file now.
_written: Counter[Path] = Counter()
#: Recordings up to this size are sorted and packed into a smaller file when they end; bytes of batches.
PACK_BYTES = 256 * 2**20


class IncompleteFile(UserWarning):
    """A file lacks a recording or its end, which is whole in memory.

    Parameters
    ----------
    path
        The file, as it was named.
    lack
        What became of it: words that follow its name.
    """

    def __init__(self, path: Path, lack: str) -> None:
        super().__init__(path, lack)
        self.path = path
        self.lack = lack

    def __str__(self) -> str:
        return f"{self.path} {self.lack}; the recording's `save` writes all of it elsewhere"


class Target:
    """A file that grows with a recording; one that is there is replaced only when that has begun.

    Parameters
    ----------
    path
        Where it is, from the root on: a program may go to another folder.
    named
        How messages name it.

    Raises
    ------
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path, named: Path) -> None:
        self._path = path
        self._named = named
        self._new = not path.exists()
        self._writer: frames.Writer | None = None
        if _written[path]:
            told = f"another recording writes to {named} as well: the one that ends last replaces the other"
            warnings.warn(told, RuntimeWarning, stacklevel=5)
        frames.place_of(path).open("ab").close()

    def begin(self, recording: Recording) -> None:
        """Write what has come, and from now on what comes."""
        writer = frames.create(self._path)
        recording.write_to(writer)
        self._writer = writer
        _written[self._path] += 1

    def finish(self, recording: Recording) -> None:
        """Complete the file, or leave things as they were if the recording has never begun."""
        if self._writer is None:
            if self._new:
                self._path.unlink(missing_ok=True)
            return
        _written[self._path] -= 1
        if lack := self._complete(recording, self._writer):
            warnings.warn(IncompleteFile(self._named, lack), stacklevel=4)

    def _complete(self, recording: Recording, writer: frames.Writer) -> str:
        """Complete the file; returns what it lacks then, '' if nothing."""
        refused: OSError | None = None
        try:
            recording.close()
        except OSError as error:
            refused = error
        # Another may have taken its place.
        gone = not writer.is_at(self._path)
        if gone or sum(map(len, recording.batches())) <= PACK_BYTES:
            try:
                recording.save(self._path)
                return ""
            except (OSError, MemoryError) as error:
                if gone:
                    why = error.strerror if isinstance(error, OSError) else "there is too little memory"
                    return f"has gone and could not be written anew: {why or error}"
        # Where the place of the file cannot be taken, what was written to it as it came is there.
        return f"may lack the end of the recording: {refused}" if refused is not None else ""
