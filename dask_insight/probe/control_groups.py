"""Where Linux keeps what it allows the processes of a container or a batch job: their control groups."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

#: What Linux tells of this process: where trees of groups are mounted, and in which groups it is.
MOUNTS, GROUPS = "/proc/self/mountinfo", "/proc/self/cgroup"


class Group(NamedTuple):
    """A control group of this process."""

    folder: str
    #: Whether it is of the one tree for all controllers, not of a tree for some.
    unified: bool

    def read(self, name: str) -> str:
        """The text of one of its files."""
        with open(os.path.join(self.folder, name)) as file:
            return file.read()


def groups(controller: str, mounts: str = MOUNTS, listed: str = GROUPS) -> Iterator[Group]:
    """The groups of this process that may limit it, its own first, then those around that.

    Raises
    ------
    OSError
        There are none here, or they cannot be read.
    ValueError
        What tells of them is not understood.
    """
    paths = _paths(listed)
    with open(mounts) as file:
        for line in file:
            before, after = (part.split() for part in line.split(" - ", 1))
            root, mounted, kind = before[3], before[4], after[0]
            path = paths.get("" if kind == "cgroup2" else controller)
            has = kind == "cgroup2" or (kind == "cgroup" and controller in after[-1].split(","))
            if path is None or not has:
                continue
            # A container may see of the tree no more than its own.
            inside = root != "/" and (path == root or path.startswith(f"{root}/"))
            yield from _upwards(mounted, path[len(root) :] if inside else path, kind == "cgroup2")


def _paths(listed: str) -> dict[str, str]:
    """This process's group by controller; that of the unified tree as ''."""
    paths: dict[str, str] = {}
    with open(listed) as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            paths |= dict.fromkeys(controllers.split(","), path)
    return paths


def _upwards(mounted: str, path: str, unified: bool) -> Iterator[Group]:
    parts = [part for part in path.split("/") if part]
    for depth in range(len(parts) if ".." not in parts else 0, -1, -1):
        yield Group(os.path.join(mounted, *parts[:depth]), unified)
