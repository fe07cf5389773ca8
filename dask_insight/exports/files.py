"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in place of `path`; compressed if that ends in ``.gz``."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as raw:
            if path.name.endswith(".gz"):
                # Without name and time, the same recording gives the same bytes.
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield raw
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """A folder to fill in place of `path`."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.mkdir(parents=True)
        yield partial
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        os.replace(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
