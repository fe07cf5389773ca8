"""Bytes as plain text, thirteen bits in two signs: 23 % longer than the bytes, where base64 is 33 %.

The 91 signs are those of ASCII from the space to ``~`` without ``" & ' <``: such text may stand as it
is in an HTML element and in a quoted attribute. Thirteen bytes become sixteen signs; of what is left at
the end, six bits or fewer become one sign. The sign of the low digit stands first, as do low bits.
"""

from __future__ import annotations

import numpy as np

#: The signs, in the order of their values.
SIGNS = "".join(chr(code) for code in range(32, 127) if chr(code) not in "\"&'<")

_BITS = 13
_BASE = len(SIGNS)
_SINGLE = 6
#: So many signs after the last sixteen make no whole bytes, or one sign too many.
_NO_ENDS = (1, 6, 11)

_codes = np.frombuffer(SIGNS.encode("ascii"), "u1").astype("<u2")
#: Both signs of each value, as they stand in memory.
_PAIRS = _codes[np.arange(2**_BITS) % _BASE] | _codes[np.arange(2**_BITS) // _BASE] << 8
_VALUES = np.full(256, 255, "u1")
_VALUES[_codes] = np.arange(_BASE)


def encode(data: bytes) -> str:
    """Bytes as text."""
    whole = len(data) // _BITS * _BITS
    groups = np.frombuffer(data, "u1", whole).reshape(-1, _BITS)
    pairs = np.empty((len(groups), 8), "<u2")
    for at in range(8):
        first, shift = divmod(_BITS * at, 8)
        bits = groups[:, first].astype("u4") | groups[:, first + 1].astype("u4") << 8
        if shift > 3:
            bits |= groups[:, first + 2].astype("u4") << 16
        pairs[:, at] = _PAIRS[bits >> shift & 2**_BITS - 1]
    return pairs.tobytes().decode("ascii") + _tail(data[whole:])


def _tail(data: bytes) -> str:
    bits, left = int.from_bytes(data, "little"), 8 * len(data)
    signs = ""
    while left > 0:
        high, low = divmod(bits & 2**_BITS - 1, _BASE)
        signs += SIGNS[low] if left <= _SINGLE else SIGNS[low] + SIGNS[high]
        bits >>= _BITS
        left -= _BITS
    return signs


def decode(text: str) -> bytes:
    """The bytes that a text stands for.

    Raises
    ------
    ValueError
        If `encode` makes no such text.
    """
    values = _VALUES[np.frombuffer(text.encode("ascii", "replace"), "u1")]
    if not text.isascii() or (values > _BASE).any():
        raise ValueError("a sign that is none of ascii91")
    codes = values[: len(values) // 2 * 2 : 2].astype("<u2") + values[1::2].astype("<u2") * _BASE
    bits = np.unpackbits(codes.view("u1").reshape(-1, 2), axis=1, bitorder="little")
    flat = bits[:, :_BITS].reshape(-1)
    if len(values) % 2:
        last = np.unpackbits(values[-1:], bitorder="little")
        flat, bits = np.append(flat, last[:_SINGLE]), np.append(bits[:, _BITS:], last[_SINGLE:])
    else:
        bits = bits[:, _BITS:]
    whole = len(flat) // 8 * 8
    if bits.any() or flat[whole:].any() or len(text) % 16 in _NO_ENDS:
        raise ValueError("signs that do not go together in ascii91")
    return np.packbits(flat[:whole], bitorder="little").tobytes()
