"""How far a process's clock is ahead of the scheduler's."""

from __future__ import annotations

import os
import platform
import sys
import time as standard
import uuid
import zlib

#: Seconds by which two clocks may drift apart in a second; it ages an estimate.
_DRIFT = 2e-5
#: Seconds by which rounding may move a time.
_ROUNDING = 1e-5
#: Round trips that are remembered.
_MOST = 64

#: When it ended, seconds by which our clock was ahead then, and by how many that may be off.
_Trip = tuple[float, float, float]


def time() -> float:
    """Seconds since the epoch on the clock by which Dask stamps tasks in this process."""
    # While it is being imported, its module is there without this.
    now: float = getattr(sys.modules.get("distributed.worker"), "time", standard.time)()
    return now


def host() -> str:
    """What processes share that read the same clock: the running kernel's id, or the machine's."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return f"{platform.node()} {uuid.getnode():x}"


def process() -> int:
    """What tells this process from all others, in containers too, where process ids begin anew."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        namespace = 0
    return zlib.crc32(f"{host()} {namespace}".encode()) << 32 | os.getpid()


class Offset:
    """Estimate from the round trips that took least time.

    A reply made at ``t`` on the other clock, asked for at ``a`` and received
    at ``b`` on ours, says that ours is ahead by ``(a + b) / 2 - t``, give or
    take ``(b - a) / 2``. It may be asked for on any thread.
    """

    def __init__(self) -> None:
        #: Replaced by every trip, never changed: others may be reading it.
        self._trips: tuple[_Trip, ...] = ()
        self._same = False

    def same(self) -> None:
        """Both processes are on one host, so they read the same clock unless round trips say otherwise."""
        self._same = True

    def trip(self, asked: float, answered: float, received: float) -> None:
        """Take a round trip; times in seconds since the epoch, the middle one on the other clock."""
        if received < asked:
            return
        offset, half = (asked + received) / 2 - answered, (received - asked) / 2
        trips = self._trips[1 - _MOST :]
        if trips:
            known, uncertainty = _best(self._trips, received)
            if abs(offset - known) > half + uncertainty + _ROUNDING:
                # One of the clocks was set: what was known before says nothing any more.
                trips = ()
        self._trips = (*trips, (received, offset, half))

    def estimate(self, now: float) -> tuple[float, float]:
        """Our clock minus the other, and how far that may be off, seconds; infinity before the first trip."""
        trips = self._trips
        if not trips:
            return 0.0, 0.0 if self._same else float("inf")
        offset, uncertainty = _best(trips, now)
        if self._same and abs(offset) <= uncertainty + _ROUNDING:
            return 0.0, 0.0
        return offset, uncertainty


def _best(trips: tuple[_Trip, ...], now: float) -> tuple[float, float]:
    uncertainty, offset = min((half + _DRIFT * max(0.0, now - when), offset) for when, offset, half in trips)
    return offset, uncertainty
