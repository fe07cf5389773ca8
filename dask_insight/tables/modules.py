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
#: Share of the time of an import from which a part of it is told, and of all imports, from which one is.
_APART = 0.1
#: Most imports that are told.
_TOLD = 3


def imported_modules(stacks: Mapping[str, Any], row: np.ndarray, seconds: np.ndarray) -> dict[str, float]:
    """The modules that took longest of some rows of ``stacks`` with their seconds, most first.

    Of a package the part that took most is told, if it took time of its own: whoever imports that imports the
    package, too. Its seconds are those of all the package.
    """
    files = stacks["file"]
    packages: dict[str, dict[str, float]] = {}
    spent = np.bincount(files.codes[row], seconds, len(files.names))
    for file in np.flatnonzero(spent).tolist():
        name = module_of(files.names[file])
        parts = packages.setdefault(name.partition(".")[0], {})
        parts[name] = parts.get(name, 0.0) + float(spent[file])
    whole = {package: sum(parts.values()) for package, parts in packages.items()}
    told = sorted(whole, key=lambda package: -whole[package])[:_TOLD]
    least = min(_APART * sum(whole.values()), max(whole.values(), default=0.0))
    return {
        _longest(package, packages[package], _APART * whole[package]): whole[package]
        for package in told
        if whole[package] >= least
    }


def _longest(package: str, parts: Mapping[str, float], least: float) -> str:
    """The part of a package that took most, if that was not too little; else what took most."""
    inside = {name: seconds for name, seconds in parts.items() if name != package and seconds >= least}
    return max(inside or parts, key=lambda name: parts[name])


def module_of(file: str) -> str:
    """What a module is called; the name of its file where nothing tells where its package begins."""
    path = words.in_a_line(file).replace("\\", "/").replace("`", "").removesuffix("/__init__.py")
    root = _ROOT.match(path)
    if not root:
        return path.rpartition("/")[2]
    return path[root.end() :].removesuffix(".py").replace("/", ".")
