"""Calls that handed graphs to a scheduler, until it tells of the graphs."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from .callers import Caller


@dataclass(frozen=True, eq=False, slots=True)
class _Call:
    keys: tuple[str, ...]
    caller: Caller
    when: float


class Calls:
    """Calls by the keys of their graphs; several may have the same, as in a loop. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: In the order in which they came.
        self._all: dict[_Call, None] = {}
        self._by_key: dict[str, list[_Call]] = {}
        #: How many keys they hold; one of several calls counts for each, as its text is kept by each.
        self._keys = 0

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, keys: Iterable[str], caller: Caller, when: float) -> None:
        """A graph with these keys was handed over at this moment."""
        call = _Call(tuple(dict.fromkeys(keys)), caller, when)
        with self._lock:
            self._all[call] = None
            self._keys += len(call.keys)
            for key in call.keys:
                self._by_key.setdefault(key, []).append(call)

    def latest(self) -> Caller | None:
        """Who made the last call."""
        with self._lock:
            return next((call.caller for call in reversed(self._all)), None)

    def take(self, key: str) -> Caller | None:
        """Who first handed over a graph with this key; that call waits no more."""
        # Most keys of a large graph are asked for in vain.
        if key not in self._by_key:
            return None
        with self._lock:
            calls = self._by_key.get(key)
            return self._drop(calls[0]) if calls else None

    def forget(self, before: float, most: int) -> int:
        """Drop calls from before a moment, and the oldest while calls or their keys are more than `most`.

        Returns
        -------
        crowded_out
            How many were dropped for their number alone.
        """
        crowded_out = 0
        with self._lock:
            if not self._all or not self._is_due(next(iter(self._all)), before, most):
                return 0
            for call in list(self._all):
                if not self._is_due(call, before, most):
                    break
                crowded_out += call.when >= before
                self._drop(call)
        return crowded_out

    def _is_due(self, oldest: _Call, before: float, most: int) -> bool:
        return oldest.when < before or max(len(self._all), self._keys) > most

    def _drop(self, call: _Call) -> Caller:
        del self._all[call]
        self._keys -= len(call.keys)
        for key in call.keys:
            self._by_key[key].remove(call)
            if not self._by_key[key]:
                del self._by_key[key]
        return call.caller
