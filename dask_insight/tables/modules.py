"""Modules that call stacks show being imported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import words
from .stacks import STANDARD

#: Folders of which modules are named by their path.
_ROOT = re.compile(rf".*/(?:(?:site|dist)-packages/|{STANDARD})|[A-Za-z]:.*/Lib/")
#: Share of the time of the longest import from which another is told.
_APART = 0.1


def longest_import(stacks: Mapping[str, Any], row: np.ndarray, seconds: np.ndarray) -> str:
    """The module that took longest of some rows of ``stacks`` with their seconds.

    Or the part of it that did, if it took time of its own: whoever imports that imports the module too.
    """
    files = stacks["file"]
    spent = np.bincount(files.codes[row], seconds, len(files.names))
    most = module_of(files.names[int(spent.argmax())])
    apart = np.flatnonzero(spent >= _APART * spent.max())
    parts = {module_of(files.names[file]): float(spent[file]) for file in apart.tolist()}
    inside = [name for name in parts if name.startswith(f"{most}.")]
    return max(inside, key=lambda name: parts[name], default=most)


def module_of(file: str) -> str:
    """What a module is called, by its file."""
    path = words.in_a_line(file).replace("\\", "/")
    root = _ROOT.match(path)
    parts = path[root.end() if root else 0 :].removesuffix(".py").removesuffix("/__init__").split("/")
    # Outside of such folders nothing tells where its package begins.
    return ".".join(parts) if root else parts[-1]
