"""Call stacks as a tree of frames, numbered as they are seen."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

NOTHING = 0xFFFF_FFFF
#: Deeper frames are left out.
_DEPTH = 200
_CACHE = 100_000

#: A stack from its leaf down: numbers of places in code.
Path = "tuple[int, ...]"


class Stacks:
    """Interns stacks; `take` gives the tree and begins a new one.

    Parameters
    ----------
    base
        Frames of a file whose name ends so, and all below them, are left out; with slashes, on Windows too.
    """

    def __init__(self, base: str = "") -> None:
        self._base = (base, base.replace("/", "\\")) if base else ()
        #: Number of a place by code object and instruction, and the code kept so that its id stays its own.
        self._places: dict[tuple[int, int], int] = {}
        self._facts: list[tuple[CodeType, int]] = []
        self._based: dict[int, bool] = {}
        self._nodes: dict[tuple[int, int], int] = {}
        self._rows: list[tuple[int, int]] = []

    def path(self, frame: FrameType | None) -> tuple[int, ...]:
        """The places of a thread's stack, leaf first."""
        found: list[int] = []
        places, base = self._places, self._base
        while frame is not None and len(found) < _DEPTH:
            code = frame.f_code
            key = (id(code), frame.f_lasti)
            place = places.get(key)
            if place is None:
                if code.co_filename.endswith(base):
                    break
                place = places[key] = len(self._facts)
                self._facts.append((code, frame.f_lineno or code.co_firstlineno))
            found.append(place)
            frame = frame.f_back
        return tuple(found)

    def node(self, path: tuple[int, ...]) -> int:
        """Row of a stack in the tree; NOTHING for an empty one."""
        nodes, rows = self._nodes, self._rows
        parent = NOTHING
        for place in reversed(path):
            key = (parent, place)
            node = nodes.get(key)
            if node is None:
                node = nodes[key] = len(rows)
                rows.append(key)
            parent = node
        return parent

    def take(self) -> dict[str, list[Any]]:
        """The tree's rows, parents before children; the next one starts empty."""
        rows, self._rows, self._nodes = self._rows, [], {}
        facts = [self._facts[place] for _, place in rows]
        return {
            "parent": [parent for parent, _ in rows],
            "function": [getattr(code, "co_qualname", code.co_name) for code, _ in facts],
            "file": [code.co_filename for code, _ in facts],
            "line": [line for _, line in facts],
            "first_line": [code.co_firstlineno for code, _ in facts],
        }

    def full(self) -> bool:
        """Whether so much code was seen that it is time to begin again with a new instance."""
        return len(self._facts) > _CACHE
