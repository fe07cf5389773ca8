"""The file that a session records to."""

from __future__ import annotations

import errno
import os
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import current_process
from pathlib import Path

from .. import frames
from ..recording import Recording

#: Recordings of this process that have a file now, and what ends the claim that they have on it together.
_written: Counter[Path] = Counter()
_claims: dict[Path, Callable[[], None]] = {}
if hasattr(os, "register_at_fork"):
    # They are the other process', which keeps this one from its files.
    os.register_at_fork(after_in_child=_written.clear)
    os.register_at_fork(after_in_child=_claims.clear)
#: Recordings up to this size are sorted and packed into a smaller file when they end; bytes of batches. So is
#: one that the file refused, or for which there was no memory: there may be room by then.
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
        If it cannot be written, or another process records to it.
    RuntimeError
        If that other one has started this process, in which its script begins anew.
    """

    def __init__(self, path: Path, named: Path) -> None:
        self._path = path
        self._named = named
        self._place = frames.place_of(path)
        self._new = not path.exists()
        self._writer: frames.Writer | None = None
        if _written[self._place]:
            told = f"another recording writes to {named} as well: the one that ends last replaces the other"
            warnings.warn(told, RuntimeWarning, stacklevel=5)
            self._place.open("ab").close()
        else:
            _claims[self._place] = _claimed(self._place)
        _written[self._place] += 1

    def begin(self, recording: Recording) -> None:
        """Write what has come, and from now on what comes."""
        if _written[self._place] > 1:
            # Two that write to one file damage it: the other finds its own gone, and writes it anew.
            with suppress(OSError):
                frames.save(self._path, ())
        writer = frames.create(self._path)
        recording.write_to(writer)
        self._writer = writer

    def finish(self, recording: Recording) -> None:
        """Complete the file, or leave things as they were if the recording has never begun."""
        try:
            if self._writer is None:
                # What it has made is empty: somebody may have saved another to it meanwhile.
                if self._new and not frames.holds_recording(self._path):
                    self._path.unlink(missing_ok=True)
            elif lack := self._complete(recording, self._writer):
                warnings.warn(IncompleteFile(self._named, lack), stacklevel=4)
        finally:
            self._leave()

    def _leave(self) -> None:
        _written[self._place] -= 1
        if release := _claims.pop(self._place, None):
            release()
        if _written[self._place]:
            # The claim was for all of them.
            with suppress(OSError):
                _claims[self._place] = frames.claim(self._place)

    def _complete(self, recording: Recording, writer: frames.Writer) -> str:
        """Complete the file; returns what it lacks then, '' if nothing."""
        refused: OSError | None = None
        try:
            recording.close()
        except OSError as error:
            refused = error
        # Another may have taken its place.
        gone = not writer.is_at(self._path)
        if gone or refused is not None or recording.size <= PACK_BYTES:
            try:
                recording.save(self._path)
                return ""
            except (OSError, MemoryError) as error:
                # The attempt itself may have lost it.
                if gone or not writer.is_at(self._path):
                    why = error.strerror if isinstance(error, OSError) else "there is too little memory"
                    return f"has gone and could not be written anew: {why or error}"
        # Where the place of the file cannot be taken, what was written to it as it came is there.
        if refused is None:
            return ""
        part = "a part" if refused.errno == errno.ENOMEM else "the end"
        return f"may lack {part} of the recording: {refused}"


def _claimed(place: Path) -> Callable[[], None]:
    try:
        return frames.claim(place)
    except OSError as error:
        # As `multiprocessing` itself asks whether a process still imports the script that started it.
        if error.errno != errno.EBUSY or not getattr(current_process(), "_inheriting", False):
            raise
    raise RuntimeError(
        "this process was started by your script and imports it again: put what the script does under "
        "`if __name__ == '__main__':`"
    )
