"""Sends the probe to a cluster, as source text and compiled; stays on the client."""

from __future__ import annotations

import json
import marshal
import zlib
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.util import MAGIC_NUMBER, find_spec
from types import CodeType
from typing import Any

from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin

#: The modules that travel to both sides, each after those it imports.
_BOTH = (
    "boot",
    "clock",
    "rows",
    "frames",
    "stacks",
    "opened",
    "waits",
    "garbage",
    "pace",
    "gaps",
    "sampler",
    "gpu",
    "control_groups",
    "cpu_limit",
    "memory_limit",
    "resources",
    "pulse",
    "logs",
    "earlier",
    "messages",
    "errors",
)
#: Those that only one side needs, after those: by the module that holds its probe.
_ONLY = {
    "scheduler": (
        *("layouts", "functions", "fused", "graph", "tasks", "readers", "journal"),
        *("own", "cluster", "gauges", "exits", "farewell", "stranded", "placing", "scheduler"),
    ),
    "worker": (
        *("threads", "secede", "executions", "transfers", "metrics", "actors", "cores", "buffers"),
        "worker",
    ),
}
#: All of them.
MODULES = (*_BOTH, *_ONLY["scheduler"], *_ONLY["worker"])

_CALL = "exec(boot, scope) or scope[build](package, sources, compiled, module, name, options)"


@cache
def sources() -> dict[str, str]:
    """The modules' source text, by name."""
    folder = resources.files(__package__)
    return {name: (folder / f"{name}.py").read_text("utf-8") for name in MODULES}


@cache
def _code(name: str) -> bytes:
    """A module's code as it runs on the cluster."""
    here = f"{__package__}.{name}"
    loader: Any = getattr(find_spec(here), "loader", None)
    return marshal.dumps(_moved(loader.get_code(here), f"<{package()}.{name}>"))


def _moved(code: CodeType, file: str) -> CodeType:
    """Code that stands in another file."""
    consts = (_moved(each, file) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(consts))


@cache
def package() -> str:
    """The name under which the modules run on the cluster; one for each version of them."""
    digest = sha256(_boot().encode())
    for name, text in sources().items():
        # Not what is sent: compressed, the same text is not the same everywhere.
        digest.update(f"{name}{text}".encode())
    return f"dask_insight_{digest.hexdigest()[:12]}"


@cache
def _boot() -> str:
    return (resources.files(__package__) / "boot.py").read_text("utf-8")


@cache
def _shipped(module: str) -> tuple[bytes, tuple[bytes, bytes]]:
    """What `boot.load` needs for a side: compressed together the modules are a quarter smaller than each."""
    wanted = (*_BOTH, *_ONLY[module])
    texts = json.dumps({each: sources()[each] for each in wanted})
    codes = marshal.dumps({each: _code(each) for each in wanted})
    return zlib.compress(texts.encode()), (MAGIC_NUMBER, zlib.compress(codes))


def _call(build: str, module: str, name: str, options: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    texts, compiled = _shipped(module)
    facts = {
        "boot": _boot(),
        "scope": {},
        "build": build,
        "package": package(),
        "sources": texts,
        "compiled": compiled,
        "module": module,
        "name": name,
        "options": options,
    }
    return eval, (_CALL, facts)


class SchedulerProbe(SchedulerPlugin):
    """What a client registers on the scheduler; becomes `probe.scheduler.Probe` there."""

    idempotent = True

    def __init__(self, **options: Any) -> None:
        self.name = package()
        self.options = options

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _call("build", "scheduler", "Probe", {"package": package()} | self.options)


class WorkerProbe(WorkerPlugin):
    """What the scheduler hands to workers; becomes `probe.worker.Probe` there."""

    idempotent = True

    def __init__(self, **options: Any) -> None:
        self.name = package()
        self.options = options

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _call("build_worker", "worker", "Probe", {"package": package()} | self.options)
