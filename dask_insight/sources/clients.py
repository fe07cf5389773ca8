"""Finds the distributed clients of this process, those there are and those to come."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import Any

import dask
from dask import callbacks

#: Called with a client; what it returns is awaited, where it can be, before the client goes on.
Callback = Callable[[Any], Awaitable[None] | None]

_PRELOAD, _ARGUMENTS = "distributed.client.preload", "distributed.client.preload-argv"
#: A cluster may hand its configuration on, and tasks make clients in several threads at once. So the preload
#: is a module that is everywhere and needs no file: only in this process it has something to run.
_HOOK = callbacks.__name__
_SETUP, _TEARDOWN = "dask_setup", "dask_teardown"

#: The logger by which distributed tells of each preload.
_CHATTY = "distributed.preloading"

logger = logging.getLogger(__name__)
#: Taken again where a session that garbage held ends just then.
_lock = threading.RLock()
_watches: list[_Watch] = []


class _Watch:
    def __init__(self, callback: Callback, closing: Callback | None) -> None:
        self.callback = callback
        self.closing = closing
        self.process = os.getpid()


def watch_clients(callback: Callback, closing: Callback | None = None) -> Callable[[], None]:
    """Tell of every distributed client of this process.

    Clients that exist are told of at once, from the thread that asks. Later
    ones are told of from their event loop, when they have connected and
    before their creator has them: if the callback returns an awaitable, the
    client waits for it, so nothing that it computes can be missed. Clients
    that workers make for their tasks are left out. Works before distributed
    has been imported.

    Parameters
    ----------
    callback
        Called with each client. Its exceptions are logged and go no further.
    closing
        Called likewise when a client begins to close and can still be used.
        For clients that existed before, too.

    Returns
    -------
    stop
        Ends the watch.
    """
    watch = _Watch(callback, closing)
    look()
    with _lock:
        if not _watches:
            _install()
        _watches.append(watch)

    def stop() -> None:
        with _lock:
            if watch in _watches:
                _watches.remove(watch)
                if not _watches:
                    _uninstall()

    try:
        for client in _instances():
            _follows(client)
            if client.status == "running":
                _tell_now(callback, client)
    except BaseException:
        stop()
        raise
    return stop


def look() -> None:
    """Find what a change of Dask's configuration has hidden: clients made meanwhile, and those to come.

    Another list of preloads, or `dask.config.refresh`, takes ours away. Cheap, for who comes by now and then.
    """
    with _lock:
        if not (watches := _of_this_process()):
            return
        _hook_in()
        hidden = list(filter(_follows, _instances()))
    for client in hidden:
        if client.status == "running":
            for watch in watches:
                _tell_now(watch.callback, client)


def existing_clients() -> list[Any]:
    """The clients of this process that are connected, without those of workers."""
    return [client for client in _instances() if client.status == "running"]


def cluster_of(client: Any) -> str:
    """What tells the cluster of a client from others; after a reconnection it may be another one."""
    identity = getattr(client, "_scheduler_identity", None) or {}
    return str(identity.get("id") or getattr(client.scheduler, "address", ""))


def _instances() -> list[Any]:
    module = sys.modules.get("distributed.client")
    # Another thread may be importing it.
    return list(filter(_wanted, _listed(module))) if hasattr(module, "Client") else []


def _listed(module: Any) -> list[Any]:
    while True:
        # Other threads may make clients meanwhile.
        with suppress(RuntimeError):
            # One that still connects is no instance yet, but may be the default already.
            instances = getattr(module.Client, "_instances", None)
            if instances is None:
                _say_unlisted()
            defaults = getattr(module, "_global_clients", {})
            return list(dict.fromkeys((*(instances or ()), *defaults.values())))


@cache
def _say_unlisted() -> None:
    logger.warning(
        "this version of Dask does not list its clients: of those made before the recording began, only the "
        "default one is found; begin to record before you make others"
    )


def _wanted(client: Any) -> bool:
    return not str(getattr(client, "id", "")).startswith("Client-worker-")


async def appeared(client: Any) -> None:
    """A client has connected; called on its event loop."""
    await _tell([watch.callback for watch in _of_this_process()], client)


async def leaving(client: Any) -> None:
    """A client begins to close; called on its event loop."""
    await _tell([watch.closing for watch in _of_this_process() if watch.closing is not None], client)


def _of_this_process() -> list[_Watch]:
    """The watches that were not begun by a process that this one was forked off."""
    return [watch for watch in list(_watches) if watch.process == os.getpid()]


async def _tell(callbacks: list[Callback], client: Any) -> None:
    """Tell all of them; the client waits for the slowest."""
    if _wanted(client):
        await asyncio.gather(*(_tell_one(callback, client) for callback in callbacks))


async def _tell_one(callback: Callback, client: Any) -> None:
    try:
        answer = callback(client)
        if inspect.isawaitable(answer):
            await answer
    except Exception:
        logger.exception("dask_insight cannot follow client %s", client.id)


def _tell_now(callback: Callback, client: Any) -> None:
    try:
        answer = callback(client)
        if inspect.isawaitable(answer):
            client.loop.add_callback(_waiting, answer)
    except Exception:
        logger.exception("dask_insight cannot follow client %s", client.id)


async def _waiting(answer: Awaitable[None]) -> None:
    await answer


def _install() -> None:
    setattr(callbacks, _SETUP, appeared)
    setattr(callbacks, _TEARDOWN, leaving)
    _hook_in()
    logging.getLogger(_CHATTY).addFilter(_not_ours)


def _uninstall() -> None:
    for name in (_SETUP, _TEARDOWN):
        vars(callbacks).pop(name, None)
    logging.getLogger(_CHATTY).removeFilter(_not_ours)
    _unhook()


def _hook_in() -> None:
    names, arguments = _configured()
    if _HOOK not in names:
        # One more for ours; where the list has changed, one may be left of ours before.
        _configure([*names, _HOOK], arguments and [*arguments[: len(names)], []])


def _unhook() -> None:
    names, arguments = _configured()
    if _HOOK in names:
        place = names.index(_HOOK)
        _configure(names[:place] + names[place + 1 :], arguments[:place] + arguments[place + 1 :])


def _configured() -> tuple[list[Any], list[Any]]:
    """The preloads of clients, and the arguments of each; none where all have the same."""
    # A file of configuration may have the name and nothing after it.
    names, arguments = dask.config.get(_PRELOAD, []) or [], dask.config.get(_ARGUMENTS, []) or []
    names, arguments = [names] if isinstance(names, str) else _sequence(names), _sequence(arguments)
    shared = not arguments or isinstance(arguments[0], str)
    return names, [] if shared else arguments


def _sequence(value: Any) -> list[Any]:
    """What is configured as a list; an empty one where it is nothing that Dask could go through."""
    return list(value) if isinstance(value, list | tuple) else []


def _configure(names: list[Any], arguments: list[Any]) -> None:
    for section in ("distributed", "distributed.client"):
        # Likewise; Dask makes it one when it merges files.
        if not isinstance(dask.config.get(section, {}), dict):
            dask.config.set({section: {}})
    dask.config.set({_PRELOAD: names} | ({_ARGUMENTS: arguments} if arguments else {}))


def _not_ours(record: logging.LogRecord) -> bool:
    """False for what distributed says, at level INFO, about loading `_HOOK`."""
    said = record.args if isinstance(record.args, tuple) else ()
    return record.levelno > logging.INFO or said[:1] != (_HOOK,)


class _Follower:
    """Stands in a client's list of preloads for one that was made before the watch."""

    name = _HOOK

    def __init__(self, client: Any) -> None:
        self._client = weakref.ref(client)

    async def start(self) -> None:
        """Called by the client when it has connected, unless it has already."""
        if (client := self._client()) is not None:
            await appeared(client)

    async def teardown(self) -> None:
        """Called by the client when it begins to close."""
        if (client := self._client()) is not None:
            await leaving(client)


def _follows(client: Any) -> bool:
    """Have a client tell of itself from now on; False for one that does already, or cannot."""
    preloads = getattr(getattr(client, "preloads", None), "_preloads", None)
    # Two threads that look at once must not both find none of ours.
    with _lock:
        if not isinstance(preloads, list) or any(getattr(one, "name", "") == _HOOK for one in preloads):
            return False
        preloads.append(_Follower(client))
        return True
