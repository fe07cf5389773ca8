"""See where the time of a Dask computation went.

`record` records it, `open` opens the file again, `load` reads files of other
tools, `Recording` is what all give; `compare` says what differs between several; `runs` are those that
``%%dprofile`` recorded, and `watch` shows what happens now. The names of
`dask.diagnostics` and of distributed's diagnostics do what they do there, and
record. Importing the package is cheap: what is needed comes when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed.metrics import context_meter

    from . import batch as batch
    from . import exports as exports
    from . import figures as figures
    from .analysis.compare import Comparison, compare
    from .compat.cluster import MemorySampler, get_task_stream, performance_report
    from .compat.diagnostics import (
        CacheProfiler,
        Callback,
        Profiler,
        ProgressBar,
        ResourceProfiler,
        visualize,
    )
    from .hosts.runs import runs
    from .hosts.widget import watch
    from .recording import Recording, RecordingError
    from .recording import open_recording as open
    from .session import Session, record
    from .sources.files import load

    __version__: str

__all__ = [
    "CacheProfiler",
    "Callback",
    "Comparison",
    "MemorySampler",
    "Profiler",
    "ProgressBar",
    "Recording",
    "RecordingError",
    "ResourceProfiler",
    "Session",
    "compare",
    "context_meter",
    "get_task_stream",
    "load",
    "open",
    "performance_report",
    "record",
    "runs",
    "visualize",
    "watch",
]

#: Name to the module, below this package unless it begins otherwise, and the name there.
_FROM = {
    **{
        name: (".compat.diagnostics", name)
        for name in ("CacheProfiler", "Callback", "Profiler", "ProgressBar", "ResourceProfiler", "visualize")
    },
    **{
        name: (".compat.cluster", name) for name in ("MemorySampler", "get_task_stream", "performance_report")
    },
    "context_meter": ("distributed.metrics", "context_meter"),
    "Comparison": (".analysis.compare", "Comparison"),
    "Recording": (".recording", "Recording"),
    "RecordingError": (".recording", "RecordingError"),
    "Session": (".session", "Session"),
    "compare": (".analysis.compare", "compare"),
    "load": (".sources.files", "load"),
    "open": (".recording", "open_recording"),
    "record": (".session", "record"),
    "runs": (".hosts.runs", "runs"),
    "watch": (".hosts.widget", "watch"),
}
#: Modules that are its public names, too.
_MODULES = ("batch", "exports", "figures")


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return _version()
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        if name not in _FROM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, attribute = _FROM[name]
        value = globals()[name] = getattr(import_module(module, __name__), attribute)
        return value


def _version() -> str:
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version("dask_insight"))
    except metadata.PackageNotFoundError:
        raise AttributeError("dask_insight is not installed here, so nothing tells its version") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, "__version__"})


def load_ipython_extension(ip: Any) -> None:
    """`%load_ext dask_insight`: live panels for what Dask does in this kernel, and the magics."""
    import_module(".hosts.lab", __name__).load(ip)
    import_module(".hosts.magic", __name__).register(ip)


def unload_ipython_extension(ip: Any) -> None:
    """`%unload_ext dask_insight`: as it was before."""
    import_module(".hosts.magic", __name__).unregister(ip)
    import_module(".hosts.lab", __name__).unload(ip)
