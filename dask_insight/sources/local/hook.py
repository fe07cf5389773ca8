"""Takes part in every computation of dask's local schedulers.

dask offers callbacks for this, but a registered one sees only the outermost
computation of one thread at a time (`dask.callbacks.local_callbacks`), and
none can learn when a task really ran. So callbacks are handed to each call of
`get_async`, the one function behind all local schedulers, together with a
`submit` that measures. A scheduler that took its own reference to
`get_async` earlier is seen through a registered callback all the same.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Protocol

import dask
import dask.callbacks
import dask.local
import dask.multiprocessing
import dask.threaded

from .origin import Origin, find_origin
from .pools import Place, Submit, Watcher, is_shared, measuring, place_of, scheduler_of

#: The five functions that dask calls: start, start_state, pretask, posttask, finish.
Callbacks = tuple[Callable[..., None] | None, ...]

_MODULES: tuple[Any, ...] = (dask.local, dask.threaded, dask.multiprocessing)
_SHORTEN = "admin.traceback.shorten"
_OUR_FRAMES = r"dask_insight[\\\/]sources[\\\/]local[\\\/]"

#: Taken again where a session that garbage held ends just then.
_lock = threading.RLock()
_listeners: list[Listener] = []
_originals: dict[str, Any] = {}
_registered_in: list[set[Any]] = []


class Part(Watcher, Protocol):
    """One listener's part in one computation."""

    @property
    def callbacks(self) -> Callbacks:
        """What dask is to call."""


class Listener(Protocol):
    """Wants to know of computations."""

    @property
    def profile(self) -> tuple[float, float] | None:
        """Interval (s) and share of a core for sampling stacks in other processes, or None."""

    def begin(
        self, scheduler: str, place: Place, threads: int, origin: Origin, *, shared: bool = False
    ) -> Part | None:
        """A computation begins; never raises. It is `shared` where the thread that asks is one of its own."""


def listen(listener: Listener) -> Callable[[], None]:
    """Tell a listener of each computation from now on; returns the function that ends it."""
    with _lock:
        if not _listeners:
            _install()
        _listeners.append(listener)

    def stop() -> None:
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)
                if not _listeners:
                    _uninstall()

    return stop


def _install() -> None:
    for module in _MODULES:
        _originals[module.__name__] = module.get_async
        module.get_async = _taking_part(module.get_async)
    _registered_in.append(dask.callbacks.Callback.active)
    _registered_in[-1].add(_REGISTERED)
    shorten = dask.config.get(_SHORTEN, None)
    if shorten:
        dask.config.set({_SHORTEN: [*shorten, _OUR_FRAMES]})


def _uninstall() -> None:
    # While a computation runs Dask has another set there, and puts the one from before back when it ends.
    # Dask walks the set itself, our functions hand it a list: so they go last.
    for callbacks in (*_registered_in, dask.callbacks.Callback.active):
        callbacks.discard(_REGISTERED)
    _registered_in.clear()
    for module in _MODULES:
        if getattr(module.get_async, "_dask_insight", False):
            module.get_async = _originals.pop(module.__name__)
    shorten = dask.config.get(_SHORTEN, None)
    if shorten and _OUR_FRAMES in shorten:
        dask.config.set({_SHORTEN: [path for path in shorten if path != _OUR_FRAMES]})


def _taking_part(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def get_async(submit: Submit, num_workers: int, dsk: Any, result: Any, *args: Any, **kwargs: Any) -> Any:
        if args:
            return original(submit, num_workers, dsk, result, *args, **kwargs)
        place = place_of(submit)
        parts, profile = _parts(submit, place, num_workers)
        with dask.callbacks.local_callbacks(kwargs.pop("callbacks", None)) as active:
            others = [callback for callback in list(active) if callback != _REGISTERED]
            callbacks = [*others, *(part.callbacks for part in parts)]
            watched = measuring(submit, place, parts, profile) if parts else submit
            return original(watched, num_workers, dsk, result, callbacks=callbacks, **kwargs)

    get_async._dask_insight = True  # type: ignore[attr-defined]
    return get_async


def _parts(submit: Submit, place: Place, threads: int) -> tuple[list[Part], tuple[float, float] | None]:
    listeners = list(_listeners)
    origin = find_origin(sys._getframe(2))
    scheduler, shared = scheduler_of(submit, place), is_shared(submit)
    parts = [listener.begin(scheduler, place, threads, origin, shared=shared) for listener in listeners]
    profiles = [listener.profile for listener in listeners if listener.profile is not None]
    return [part for part in parts if part is not None], min(profiles, default=None)


class _Registered:
    """The callback registered with dask, for schedulers whose `get_async` is not ours."""

    def __init__(self) -> None:
        self._parts: dict[int, Sequence[Part]] = {}

    def start(self, dsk: Any) -> None:
        origin = find_origin(sys._getframe(1))
        parts = [listener.begin("local", "unknown", 0, origin) for listener in list(_listeners)]
        self._parts[id(dsk)] = [part for part in parts if part is not None]
        self._call(0, dsk, dsk)

    def start_state(self, dsk: Any, state: Any) -> None:
        self._call(1, dsk, dsk, state)

    def pretask(self, key: Any, dsk: Any, state: Any) -> None:
        self._call(2, dsk, key, dsk, state)

    def posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker: Any) -> None:
        self._call(3, dsk, key, result, dsk, state, worker)

    def finish(self, dsk: Any, state: Any, failed: bool) -> None:
        self._call(4, dsk, dsk, state, failed)
        self._parts.pop(id(dsk), None)

    def _call(self, which: int, dsk: Any, *args: Any) -> None:
        for part in self._parts.get(id(dsk), ()):
            if (callback := part.callbacks[which]) is not None:
                callback(*args)


_registered = _Registered()
_REGISTERED: Callbacks = (
    _registered.start,
    _registered.start_state,
    _registered.pretask,
    _registered.posttask,
    _registered.finish,
)
