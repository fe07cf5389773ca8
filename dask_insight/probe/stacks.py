"""Call stacks as a tree of frames, numbered as they are seen."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

NOTHING = 0xFFFF_FFFF
#: Deeper frames are left out.
_DEPTH = 200
_CACHE = 100_000
#: Instructions that are known by their code, which is kept for that.
_PINNED = 4_000

#: A place in code: function, file, line, first line of the function.
_Place = tuple[str, str, int, int]


class Stacks:
    """Interns stacks; `take` gives the tree and begins a new one.

    Code that is sent by value comes as another object each time: places are told apart by their text.

    Parameters
    ----------
    base
        Frames of a file whose name ends so, and all below them, are left out; with slashes, on Windows too.
    """

    def __init__(self, base: str = "") -> None:
        self._base = (base, base.replace("/", "\\")) if base else ()
        self._numbers: dict[_Place, int] = {}
        self._places: list[_Place] = []
        #: Number of a place by id of the code and instruction, and that code: its id must stay its own.
        self._met: dict[tuple[int, int], int] = {}
        self._pinned: list[CodeType] = []
        self._nodes: dict[tuple[int, int], int] = {}
        self._rows: list[tuple[int, int]] = []

    def path(self, frame: FrameType | None) -> tuple[int, ...]:
        """The places of a thread's stack, leaf first."""
        found: list[int] = []
        met, base = self._met, self._base
        while frame is not None and len(found) < _DEPTH:
            code = frame.f_code
            key = (id(code), frame.f_lasti)
            place = met.get(key)
            if place is None:
                if code.co_filename.endswith(base):
                    break
                place = self._meet(code, key, frame.f_lineno)
            found.append(place)
            frame = frame.f_back
        return tuple(found)

    def _meet(self, code: CodeType, key: tuple[int, int], line: int | None) -> int:
        """The place at an instruction that was never met, or is forgotten."""
        if len(self._pinned) >= _PINNED:
            self._met.clear()
            self._pinned.clear()
        name = getattr(code, "co_qualname", code.co_name)
        place = (name, code.co_filename, line or code.co_firstlineno, code.co_firstlineno)
        number = self._numbers.get(place)
        if number is None:
            number = self._numbers[place] = len(self._places)
            self._places.append(place)
        self._met[key] = number
        self._pinned.append(code)
        return number

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
        places = [self._places[place] for _, place in rows]
        return {
            "parent": [parent for parent, _ in rows],
            "function": [function for function, _, _, _ in places],
            "file": [file for _, file, _, _ in places],
            "line": [line for _, _, line, _ in places],
            "first_line": [first_line for _, _, _, first_line in places],
        }

    def full(self) -> bool:
        """Whether so much code was seen that it is time to begin again with a new instance."""
        return len(self._places) > _CACHE
