"""The file that a session records to."""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

from .. import frames
from ..recording import Recording

#: Recordings up to this size are sorted and packed into a smaller file when they end; bytes of batches.
PACK_BYTES = 256 * 2**20


class IncompleteFile(UserWarning):
    """A file lacks the end of a recording, which is whole in memory."""


class Target:
    """A file that grows with a recording; one that is there is replaced only when that has begun.

    Raises
    ------
    OSError
        If it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._new = not path.exists()
        self._begun = False
        frames.place_of(path).open("ab").close()

    def begin(self, recording: Recording) -> None:
        """Write what has come, and from now on what comes."""
        recording.write_to(frames.create(self._path))
        self._begun = True

    def finish(self, recording: Recording) -> None:
        """Complete the file, or leave things as they were if the recording has never begun."""
        if not self._begun:
            if self._new:
                self._path.unlink(missing_ok=True)
            return
        refused: OSError | None = None
        try:
            recording.close()
        except OSError as error:
            refused = error
        if sum(map(len, recording.batches())) <= PACK_BYTES:
            # Where the place of the file cannot be taken, what was written to it as it came is there.
            with contextlib.suppress(OSError):
                recording.save(self._path)
                return
        if refused is not None:
            lacks = f"{self._path} may lack the end of the recording: {refused}"
            warnings.warn(f"{lacks}; its `save` writes all of it elsewhere", IncompleteFile, stacklevel=4)
