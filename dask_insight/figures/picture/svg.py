"""A pen that writes SVG: paths and texts, no script, no style, nothing from elsewhere."""

from __future__ import annotations

from html import escape

import numpy as np

from ..colors import Rgb, css
from ..texts import clean
from .pen import Anchor

_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', sans-serif"


class SvgPen:
    """Gathers what is drawn; `document` gives it all."""

    def __init__(self, width: float, height: float, background: Rgb, title: str) -> None:
        self._size = width, height
        self._title = title
        self._parts = [
            f'<rect width="{_number(width)}" height="{_number(height)}" fill="{css(background)}"/>'
        ]

    def document(self) -> str:
        """The whole picture."""
        width, height = map(_number, self._size)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="{_FONT}">'
            f"<title>{escape(clean(self._title))}</title>{''.join(self._parts)}</svg>\n"
        )

    def boxes(self, x: np.ndarray, y: np.ndarray, width: np.ndarray, height: np.ndarray, color: Rgb) -> None:
        """All of one colour are one path."""
        if not len(x):
            return
        # Of thousands, nobody sees a twentieth of a pixel.
        rows = np.round(np.column_stack((x, y, width, height)), 2 if len(x) < 500 else 1).tolist()
        path = "".join(f"M{a:g} {b:g}h{c:g}v{d:g}h{-c:g}z" for a, b, c, d in rows)
        self._parts.append(f'<path d="{path}" fill="{css(color)}"/>')

    def line(self, x: np.ndarray, y: np.ndarray, color: Rgb, *, width: float, dashed: bool) -> None:
        """A stroked path."""
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self._parts.append(
            f'<path d="{_joined(x, y)}" fill="none" stroke="{css(color)}" stroke-width="{width:g}"{dash}/>'
        )

    def polygon(self, x: np.ndarray, y: np.ndarray, color: Rgb) -> None:
        """A filled path."""
        self._parts.append(f'<path d="{_joined(x, y)}z" fill="{css(color)}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: Rgb,
        *,
        size: float,
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """A text, as text."""
        at = "" if anchor == "start" else f' text-anchor="{anchor}"'
        weight = ' font-weight="600"' if bold else ""
        place = f'x="{_number(x)}" y="{_number(y + 0.35 * size)}" fill="{css(color)}" font-size="{size:g}"'
        self._parts.append(f"<text {place}{at}{weight}>{escape(clean(text))}</text>")

    def note(self) -> str:
        """Nothing: whoever shows it has the fonts."""
        return ""


def _joined(x: np.ndarray, y: np.ndarray) -> str:
    points = np.round(np.column_stack((x, y)), 2).tolist()
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in points)


def _number(value: float) -> str:
    return f"{round(value, 2):g}"
