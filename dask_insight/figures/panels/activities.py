"""Colours and words of activities of the fine metrics."""

from __future__ import annotations

from ..colors import Rgb, named, reserved, slot_color
from ..theme import Theme

_RESERVED = {
    "network": "transfer",
    "transfer": "transfer",
    "disk-read": "disk",
    "disk-write": "disk",
    "memory-read": "disk",
    "deserialize": "deserialize",
    "serialize": "deserialize",
    "compress": "compress",
    "decompress": "compress",
}
_SLOTS = {"thread-cpu": 19, "thread-noncpu": 31}
#: Who worked for a P2P shuffle or rechunk, by what Dask puts before an activity; and what was done.
_WHERE = {
    "p2p-": "P2P",
    "foreground ": "P2P",
    "background-disk ": "P2P to disk",
    "background-comms ": "P2P to workers",
}
_WHAT = {
    "shard-partition-cpu": "cutting up, CPU",
    "shard-partition-noncpu": "cutting up, off CPU",
    "get-output-cpu": "joining, CPU",
    "get-output-noncpu": "joining, off CPU",
    "shards": "pieces",
    "comms-limiter": "waiting to send",
    "disk-limiter": "waiting to write",
    "disk-read": "reading",
    "disk-write": "writing",
    "serialize": "serializing",
    "compress": "compressing",
    "send": "sending",
    "process": "handing over",
    "offload": "offload",
    "idle": "idle",
}


def activity_words(activity: str) -> str:
    """An activity as a person reads it: those of P2P shuffles in words, others as they are called."""
    for before, where in _WHERE.items():
        what = _WHAT.get(activity.removeprefix(before))
        if what and activity.startswith(before):
            return f"{where}: {what}"
    return activity


def activity_color(activity: str, theme: Theme) -> Rgb:
    """Dask's own colours where it has one for an activity; the person's labels get places of their own."""
    if activity in _SLOTS:
        return slot_color(_SLOTS[activity], dark=theme.dark)
    if activity in _RESERVED:
        return reserved(_RESERVED[activity], dark=theme.dark)
    if activity in ("failed", "cancelled"):
        return (235, 235, 235) if theme.dark else (20, 20, 20)
    if activity in ("executor", "offload", "idle", "other"):
        return (92, 97, 105) if theme.dark else (196, 201, 208)
    return named(activity, dark=theme.dark)
