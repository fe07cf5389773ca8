"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ..frames import beside, current_folder, place_of, replacing, take_place

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
    OSError
        If its place cannot be taken; where what was there cannot come back either, the message names it.
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
    if target == current_folder():
        raise FileExistsError(f"{path} is the folder that this program works in: name another")
    partial, before = beside(target, "part"), beside(target, "old")
    try:
        partial.mkdir()
        yield partial
        _take(partial, target, before)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _take(partial: Path, target: Path, before: Path) -> None:
    """Take a place; what was there comes back, from `before`, where that fails or is interrupted."""
    try:
        if target.exists():
            take_place(target, before)
        take_place(partial, target)
    except BaseException as error:
        if before.exists() and not target.exists():
            _give_back(before, target, error)
        raise
    finally:
        if target.exists():
            shutil.rmtree(before, ignore_errors=True)


def _give_back(before: Path, target: Path, error: BaseException) -> None:
    try:
        take_place(before, target)
    except OSError as again:
        told = f"{again.strerror}, though what was there is whole in {before.name}"
        raise OSError(again.errno, told, str(target)) from error
