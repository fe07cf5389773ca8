"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ..frames import place_of, take_place


@contextmanager
def replaced(path: Path, *, packed: bool = False) -> Iterator[IO[bytes]]:
    """A file to write in place of `path`; compressed with `packed`, and if its name ends in ``.gz``."""
    target = place_of(path)
    partial = _beside(target, "part")
    try:
        with partial.open("wb") as raw:
            if packed or path.name.endswith(".gz"):
                # Without name and time, the same recording gives the same bytes.
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as smaller:
                    yield cast("IO[bytes]", smaller)
            else:
                yield raw
        take_place(partial, target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: Path, names: Collection[str]) -> Iterator[Path]:
    """A folder to fill with some of the files of these names, in place of `path`.

    Raises
    ------
    FileExistsError
        If `path` holds anything else, which would be lost.
    """
    inside = path.iterdir() if path.is_dir() else ()
    others = sorted(each.name for each in inside if each.name not in names or not each.is_file())
    if others:
        raise FileExistsError(
            f"{path} holds {others[0]}, which no export has put there: name another folder, or an empty one"
        )
    partial, before = _beside(path, "part"), _beside(path, "old")
    try:
        partial.mkdir()
        yield partial
        if path.exists():
            take_place(path, before)
        try:
            take_place(partial, path)
        except OSError:
            if before.exists():
                take_place(before, path)
            raise
    finally:
        for each in (partial, before):
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{end}")
