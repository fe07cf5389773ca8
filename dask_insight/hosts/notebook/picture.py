"""The task stream as a picture that any viewer shows: SVG with its words, and PNG."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape

import numpy as np

from ...figures.colors import FAILED, Rgb
from ...figures.texts import clean, width
from ...figures.ticks import time_ticks
from ...words import short
from .raster import Picture

_MARGIN, _PLOT = 70, 900
_WIDTH = _MARGIN + _PLOT + 10
_GREY = "#59616b"
_FONT = "font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif\" font-size=\"12\""
#: Most names in the legend.
_NAMES = 8


def svg(picture: Picture, title: str) -> str:
    """The picture with axis, workers and legend; the raster stands in it as PNG."""
    height = _height(picture)
    top = 26
    image = base64.b64encode(_encoded(picture.pixels)).decode()
    parts = [
        _text(4, 14, f"Task stream · {short(title, 90)}", weight="600"),
        f'<image x="{_MARGIN}" y="{top}" width="{_PLOT}" height="{height}" preserveAspectRatio="none" '
        f'style="image-rendering:pixelated" href="data:image/png;base64,{image}"/>',
        *_workers(picture, top, height),
        *_axis(picture.span, top, height),
    ]
    legend, bottom = _legend(picture, top + height + 44)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{bottom}" '
        f'viewBox="0 0 {_WIDTH} {bottom}" role="img" {_FONT}>'
        f"<title>{escape(clean(title))}</title>"
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join([*parts, *legend])}</svg>'
    )


def png(picture: Picture) -> bytes:
    """The lanes alone, each some pixels high."""
    lanes = len(picture.workers)
    each = max(1, round(_height(picture) / lanes))
    return _encoded(np.repeat(picture.pixels, each, axis=0))


def _height(picture: Picture) -> int:
    return int(np.clip(18 * len(picture.workers), 54, 400))


def _workers(picture: Picture, top: int, height: int) -> list[str]:
    """Names at the first lane of each worker, where there is room, and lines between workers."""
    lane = height / len(picture.workers)
    parts: list[str] = []
    free = 0.0
    for number, name in enumerate(picture.workers):
        if number and picture.workers[number - 1] == name:
            continue
        y = top + number * lane
        if number and lane >= 4:
            parts.append(_line(_MARGIN, y, _MARGIN + _PLOT, y))
        if y >= free:
            parts.append(_text(4, y + 12, short(f"worker {name}" if name.isdecimal() else name, 10)))
            free = y + 14
    return parts


def _axis(span: float, top: int, height: int) -> list[str]:
    y = top + height
    parts = [_line(_MARGIN, y + 0.5, _MARGIN + _PLOT, y + 0.5)]
    for tick in time_ticks(0, span, 8):
        x = _MARGIN + tick.value / span * _PLOT
        parts.append(_line(x, y, x, y + 4))
        if x < _MARGIN + _PLOT - 24:
            parts.append(_text(x, y + 18, tick.label, anchor="middle"))
    return parts


def _legend(picture: Picture, y: int) -> tuple[list[str], int]:
    signs: list[tuple[str, Rgb]] = [(name or "(no name)", color) for name, color, _ in picture.names[:_NAMES]]
    signs += [(kind, FAILED[kind]) for kind in picture.failures]
    if (more := len(picture.names) - _NAMES) > 0:
        signs.append((f"and {more:,} more", (255, 255, 255)))
    parts: list[str] = []
    x = _MARGIN
    for name, color in signs:
        label = short(name, 28)
        wide = 28 + round(width(label, 12))
        if x + wide > _WIDTH and x > _MARGIN:
            x, y = _MARGIN, y + 20
        parts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="rgb{color}"/>')
        parts.append(_text(x + 14, y, label))
        x += wide
    return parts, y + 12


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400") -> str:
    place = f'x="{x:.5g}" y="{y:.5g}" fill="{_GREY}" text-anchor="{anchor}" font-weight="{weight}"'
    return f"<text {place}>{escape(clean(text))}</text>"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.5g} {y1:.5g}L{x2:.5g} {y2:.5g}" stroke="#c4cad1" fill="none"/>'


def _encoded(pixels: np.ndarray) -> bytes:
    """Red, green and blue bytes as a PNG, with a palette where the colours are few."""
    height, width, _ = pixels.shape
    # One number a pixel: rows of three are slow to compare.
    red, green, blue = pixels.reshape(-1, 3).T.astype("u4")
    numbers, place = np.unique(red << 16 | green << 8 | blue, return_inverse=True)
    colors = np.stack((numbers >> 16, numbers >> 8 & 0xFF, numbers & 0xFF), axis=1).astype("u1")
    few = len(colors) <= 256
    data = place.astype("u1").reshape(height, width) if few else pixels.reshape(height, -1)
    rows = np.zeros((height, 1 + data.shape[1]), "u1")
    rows[:, 1:] = data
    header = struct.pack(">IIBBBBB", width, height, 8, 3 if few else 2, 0, 0, 0)
    palette = _chunk(b"PLTE", colors.tobytes()) if few else b""
    body = _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + palette + body + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
