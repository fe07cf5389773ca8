"""Tells when a program has imported a package."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Imported(MetaPathFinder):
    """Within, a function is called once, when a package has been imported; at once if it was before.

    It is called in the thread that imports, before the line after the ``import`` runs. Neither the package
    nor who imports it is changed.
    """

    def __init__(self, package: str, tell: Callable[[], None]) -> None:
        self._package = package
        self._tell = tell

    def __enter__(self) -> Imported:
        if self._package in sys.modules:
            self._tell()
        else:
            sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ValueError):
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find; of the package, with a loader that tells."""
        if name != self._package:
            return None
        # Python passes over those of long ago, too.
        others = [each for each in sys.meta_path if each is not self and hasattr(each, "find_spec")]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next(filter(None, found), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self._came)
        return spec

    def _came(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self._tell()


class _Telling(Loader):
    """Stands in for a loader until the module is to run."""

    def __init__(self, loader: Any, tell: Callable[[], None]) -> None:
        self._loader = loader
        self._tell = tell

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._tell()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
