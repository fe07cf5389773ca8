"""Numbers as differences and as byte planes; see `batch`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import Array, BatchError

#: The code of a missing time.
MISSING = 0xFFFF_FFFF


def zigzag(steps: Array) -> Array:
    """Signed differences, given as unsigned, with their sign in the lowest bit."""
    signed = steps.view("<i4")
    return np.asarray((signed << 1) ^ (signed >> 31)).view("<u4")


def unzigzag(codes: Array) -> Array:
    """The reverse of `zigzag`."""
    return np.asarray((codes >> 1) ^ (0 - (codes & 1)), "<u4")


def planes(array: Array) -> bytes:
    """All first bytes, then all second bytes, …"""
    width = array.dtype.itemsize
    raw = np.ascontiguousarray(array).view("u1")
    return raw.reshape(-1, width).T.tobytes() if width > 1 else raw.tobytes()


def unplanes(data: bytes | memoryview, dtype: Any, rows: int) -> Array:
    """The reverse of `planes`.

    Raises
    ------
    BatchError
        If the bytes are not as many as the rows need.
    """
    kind = np.dtype(dtype)
    if len(data) != rows * kind.itemsize:
        raise BatchError(f"{len(data)} bytes where {rows} rows of {kind.itemsize} were announced")
    raw = np.empty((rows, kind.itemsize), "u1")
    for number, plane in enumerate(np.frombuffer(data, "u1").reshape(kind.itemsize, rows)):
        raw[:, number] = plane
    return np.asarray(raw.view(kind).reshape(rows))


def unplanes32(data: bytes | memoryview, kept: Any, rows: int) -> Array:
    """The same for numbers of four bytes, of which the low `kept` are there and the others are zero.

    Raises
    ------
    BatchError
        If the bytes are not as many as the rows need.
    """
    if kept not in (1, 2, 3, 4):
        raise BatchError(f"a number of {kept} planes")
    if len(data) != kept * rows:
        raise BatchError(f"{len(data)} bytes where {rows} rows of {kept} were announced")
    return unplanes(bytes(data) + bytes((4 - kept) * rows), "<u4", rows)


def low_planes(codes: Array) -> tuple[int, bytes]:
    """How many low planes of numbers of four bytes are enough, and these."""
    kept = max(1, (int(codes.max(initial=0)).bit_length() + 7) // 8)
    return kept, planes(codes)[: kept * len(codes)]


def width_of(most: int) -> int:
    """Bytes that are enough for codes up to `most`."""
    return 1 if most < 0x100 else 2 if most < 0x1_0000 else 4


def spread(steps: Array) -> float:
    """How many bits differences take, about."""
    return float(np.log2(1 + np.abs(steps)).sum())


def has_missing(data: bytes | memoryview) -> bool:
    """Whether a time is missing in four planes."""
    return bool((np.frombuffer(data, "u1").reshape(4, -1) == 0xFF).all(axis=0).any())
