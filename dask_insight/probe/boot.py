"""Turns what was shipped into modules; itself run as text on the other side."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import linecache
import marshal
import sys
import threading
import types
import weakref
import zlib
from typing import Any


def build(
    package: str,
    sources: bytes,
    compiled: tuple[bytes, bytes],
    module: str,
    name: str,
    options: dict[str, Any],
) -> Any:
    """An instance of ``module.name`` of the shipped package, loading the package where needed."""
    with alone():
        if f"{package}.{module}" not in sys.modules:
            load(package, sources, compiled)
        made = getattr(sys.modules[f"{package}.{module}"], name)(**options)
        vars(sys.modules[package])["users"].add(made)
    return made


def build_worker(*shipped: Any) -> Any:
    """Like `build`, but never raises: a worker plugin that cannot be unpickled keeps every new worker out."""
    try:
        return build(*shipped)
    except Exception as error:
        from distributed.diagnostics.plugin import WorkerPlugin

        class Inert(WorkerPlugin):
            """Stands in for a probe that this worker's Python cannot load."""

            reason = f"{type(error).__name__}: {error}"

            def setup(self, worker: Any) -> None:
                raise RuntimeError(f"dask_insight cannot record on this worker: {self.reason}")

        return Inert()


def alone() -> Any:
    """Who loads and unloads takes turns: schedulers and workers of one process have threads of their own.

    Each has this text for itself, so the lock stands where all look, and stays there.
    """
    return vars(threading).setdefault("_dask_insight_loading", threading.Lock())


def load(package: str, sources: bytes, compiled: tuple[bytes, bytes]) -> None:
    """Execute the modules that are not there yet, each after those it imports, the order they come in.

    Scheduler and worker need different ones, and may live in one process.

    Parameters
    ----------
    package
        Their package.
    sources
        Source text of each by name, as compressed JSON.
    compiled
        The sender's magic number, and compressed the code of each by name for a Python that has the same.
    """
    magic, codes = compiled
    ready = marshal.loads(zlib.decompress(codes)) if magic == importlib.util.MAGIC_NUMBER else {}
    loaded = []
    if package not in sys.modules:
        root = sys.modules[package] = types.ModuleType(
            package, "dask_insight's probe, sent by a client that records."
        )
        root.__path__ = []
        #: The probes of this process: with modules of its own each would count as the only one.
        vars(root)["users"] = weakref.WeakSet()
        loaded.append(package)
    try:
        for short, text in json.loads(zlib.decompress(sources)).items():
            full = f"{package}.{short}"
            if full in sys.modules:
                continue
            module = types.ModuleType(full)
            module.__package__, module.__file__ = package, f"<{full}>"
            sys.modules[full] = module
            loaded.append(full)
            linecache.cache[module.__file__] = (len(text), None, text.splitlines(True), module.__file__)
            code = marshal.loads(ready[short]) if short in ready else compile(text, module.__file__, "exec")
            exec(code, module.__dict__)
            setattr(sys.modules[package], short, module)
    except BaseException:
        for full in loaded:
            sys.modules.pop(full, None)
        raise


def unload(package: str, user: Any) -> None:
    """Forget the modules with the last probe; what still runs of them keeps its own references."""
    with alone():
        users: Any = getattr(sys.modules.get(package), "users", set())
        users.discard(user)
        ours = [] if users else [name for name in list(sys.modules) if f"{name}.".startswith(f"{package}.")]
        for full in ours:
            del sys.modules[full]
            linecache.cache.pop(f"<{full}>", None)
    # Dask remembers every handler that it ever called, and with a method all that its probe holds.
    with contextlib.suppress(AttributeError, KeyError):
        vars(sys.modules["distributed.core"])["_expects_comm"].cache_clear()
