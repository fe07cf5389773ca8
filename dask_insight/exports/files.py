"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ..frames import beside, place_of, replacing, take_place

#: Files that systems put into folders on which somebody looks.
_OF_THE_SYSTEM = (".DS_Store", "Thumbs.db", "desktop.ini")


@contextmanager
def replaced(path: Path, *, packed: bool = False) -> Iterator[IO[bytes]]:
    """A file to write in place of `path`; compressed with `packed`, and if its name ends in ``.gz``."""
    with replacing(path) as raw:
        if packed or path.name.lower().endswith(".gz"):
            # Without name and time, the same recording gives the same bytes.
            with gzip.GzipFile("", "wb", 6, raw, mtime=0) as smaller:
                yield cast("IO[bytes]", smaller)
        else:
            yield raw


def _is_known(name: str, known: Collection[str]) -> bool:
    """Whether a file has one of these names, or macOS keeps attributes in it of one that has."""
    return name.removeprefix("._") in known


def _is_open(name: str) -> bool:
    """Whether NFS keeps a file by this name that is deleted and still open: nobody can take it away."""
    return name.startswith(".nfs")


@contextmanager
def replaced_folder(path: Path, names: Collection[str]) -> Iterator[Path]:
    """A folder to fill with some of the files of these names, in place of `path`.

    Raises
    ------
    FileExistsError
        If `path` is a file or holds anything else, which would be lost, or if this process works there.
    """
    target = place_of(path)
    if target.exists() and not target.is_dir():
        raise FileExistsError(f"{path} is a file: name a folder")
    known = {*names, *_OF_THE_SYSTEM}
    inside = target.iterdir() if target.is_dir() else ()
    others = sorted(each.name for each in inside if not (_is_known(each.name, known) and each.is_file()))
    if any(map(_is_open, others)):
        raise FileExistsError(f"somebody still has a file of {path} open: close it, or name another folder")
    if others:
        raise FileExistsError(
            f"{path} holds {others[0]}, which no export has put there: name another folder, or an empty one"
        )
    if target == Path.cwd():
        raise FileExistsError(f"{path} is the folder that this program works in: name another")
    partial, before = beside(target, "part"), beside(target, "old")
    try:
        partial.mkdir()
        yield partial
        if target.exists():
            take_place(target, before)
        try:
            take_place(partial, target)
        except OSError:
            if before.exists():
                take_place(before, target)
            raise
    finally:
        for each in (partial, before):
            shutil.rmtree(each, ignore_errors=True)
