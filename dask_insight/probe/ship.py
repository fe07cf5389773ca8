"""Sends the probe to a cluster, as source text and compiled; stays on the client."""

from __future__ import annotations

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
def sources() -> dict[str, bytes]:
    """The modules' compressed source text, by name."""
    folder = resources.files(__package__)
    return {name: zlib.compress((folder / f"{name}.py").read_bytes(), 9) for name in MODULES}


@cache
def _code(name: str) -> bytes:
    """A module's compressed code as it runs on the cluster."""
    here = f"{__package__}.{name}"
    loader: Any = getattr(find_spec(here), "loader", None)
    return zlib.compress(marshal.dumps(_moved(loader.get_code(here), f"<{package()}.{name}>")), 1)


def _moved(code: CodeType, file: str) -> CodeType:
    """Code that stands in another file."""
    consts = (_moved(each, file) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(consts))


@cache
def package() -> str:
    """The name under which the modules run on the cluster; one for each version of them."""
    digest = sha256(_boot().encode())
    for name, text in sources().items():
        # Compressed, the same text is not the same everywhere.
        digest.update(name.encode() + zlib.decompress(text))
    return f"dask_insight_{digest.hexdigest()[:12]}"


@cache
def _boot() -> str:
    return (resources.files(__package__) / "boot.py").read_text("utf-8")


def _call(build: str, module: str, name: str, options: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    wanted = (*_BOTH, *_ONLY[module])
    facts = {
        "boot": _boot(),
        "scope": {},
        "build": build,
        "package": package(),
        "sources": {each: sources()[each] for each in wanted},
        "compiled": (MAGIC_NUMBER, {each: _code(each) for each in wanted}),
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
