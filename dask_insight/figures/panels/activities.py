"""Colours of activities of the fine metrics."""

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
