"""Panels as pictures: one as a file, all as a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..figures.defaults import OVERVIEW
from ..figures.panels import OPTIONS, PANELS, PART
from ..figures.pictures import Picture
from . import ALL
from .files import replaced, replaced_folder
from .progress import Told

if TYPE_CHECKING:
    from ..recording import Recording


def write_pictures(
    recording: Recording,
    path: Path,
    told: Told,
    suffix: str,
    drawn: Callable[[Picture], bytes],
    panel: str = OVERVIEW,
    **asked: Any,
) -> None:
    """Write a panel, or all of them as ``task-stream.svg`` … in a folder."""
    if panel != ALL:
        made = drawn(Picture(recording, panel, **asked))
        with replaced(path) as file:
            file.write(made)
        told(1.0)
        return
    files = {name: f"{name}{suffix}" for name in (OVERVIEW, *PANELS)}
    with replaced_folder(path, files.values()) as folder:
        for number, (name, shown) in enumerate(files.items(), 1):
            its = {one: given for one, given in asked.items() if OPTIONS.get(one, name) == name}
            if name != OVERVIEW:
                # Those that cannot show such a part alone show the whole, and say nothing else.
                taken = PANELS[name].takes(its)
                its = {one: given for one, given in its.items() if one not in PART or one in taken}
            picture = Picture(recording, name, **its)
            if name == OVERVIEW or not picture.is_empty:
                (folder / shown).write_bytes(drawn(picture))
            told(number / len(files))
