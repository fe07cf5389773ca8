"""A pen that paints pixels, with matplotlib's renderer and the font that it brings along."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np

from ... import words
from ..colors import Rgb
from ..texts import clean
from .fonts import families
from .pen import Anchor

#: The renderer refuses paths of too many corners.
_MOST = 400


class PngPen:
    """Paints at once; `encoded` gives the file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """

    def __init__(self, width: float, height: float, background: Rgb, title: str, scale: float) -> None:
        try:
            from matplotlib.backends import backend_agg
            from matplotlib.path import Path
            from matplotlib.transforms import Affine2D
        except ImportError as error:
            raise ImportError(
                "pictures as PNG need matplotlib: `pip install matplotlib`; SVG needs nothing"
            ) from error
        self._scale = scale
        self._title = title
        #: Signs that stand as boxes.
        self._lacking: set[str] = set()
        self._height = round(height * scale)
        agg: Any = backend_agg
        self._renderer = agg.RendererAgg(round(width * scale), self._height, 72)
        self._path: Any = Path
        self._place = Affine2D().scale(scale, -scale).translate(0, self._height)
        one = np.zeros(1)
        self.boxes(one, one, one + width, one + height, background)

    def note(self) -> str:
        """How many signs no font has."""
        if not self._lacking:
            return ""
        signs = words.count(len(self._lacking), "sign has", "signs have")
        return f"{signs} no font on this machine: drawn as boxes (SVG keeps the text)"

    def encoded(self) -> bytes:
        """The picture as the bytes of a PNG."""
        from PIL import Image
        from PIL.PngImagePlugin import PngInfo

        pixels = np.asarray(self._renderer.buffer_rgba())[..., :3]
        about = PngInfo()
        about.add_itxt("Title", clean(self._title))
        about.add_text("Software", "dask_insight")
        file = io.BytesIO()
        dots = 96 * self._scale
        Image.fromarray(np.ascontiguousarray(pixels)).save(
            file, "PNG", pnginfo=about, dpi=(dots, dots), optimize=True
        )
        return file.getvalue()

    def boxes(self, x: np.ndarray, y: np.ndarray, width: np.ndarray, height: np.ndarray, color: Rgb) -> None:
        """Rectangles, some hundred in a path."""
        if not len(x):
            return
        corners = np.empty((len(x), 5, 2))
        corners[:, :, 0] = x[:, None] + width[:, None] * np.array([0, 1, 1, 0, 0])
        corners[:, :, 1] = y[:, None] + height[:, None] * np.array([0, 0, 1, 1, 0])
        codes = np.array([1, 2, 2, 2, 79], "u1")
        for first in range(0, len(x), _MOST):
            some = corners[first : first + _MOST]
            self._fill(some.reshape(-1, 2), np.tile(codes, len(some)), color)

    def polygon(self, x: np.ndarray, y: np.ndarray, color: Rgb) -> None:
        """A filled path."""
        points = np.column_stack((x, y))
        codes = np.full(len(points) + 1, 2, "u1")
        codes[0], codes[-1] = 1, 79
        self._fill(np.vstack((points, points[:1])), codes, color)

    def line(self, x: np.ndarray, y: np.ndarray, color: Rgb, *, width: float, dashed: bool) -> None:
        """A stroked path."""
        pencil = self._pencil(color, width)
        if dashed:
            pencil.set_dashes(0, [4 * self._scale, 4 * self._scale])
        self._renderer.draw_path(pencil, self._path(np.column_stack((x, y))), self._place)

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
        """A text in the font that comes with matplotlib, or another one for signs that it lacks."""
        from matplotlib.font_manager import FontProperties

        text = clean(text)
        if not text.strip():
            return
        names, lacking = families(text)
        self._lacking |= lacking
        font = FontProperties(family=names, weight="bold" if bold else "normal", size=size * self._scale)
        with warnings.catch_warnings():
            # Of a sign that no font has, the picture tells.
            warnings.simplefilter("ignore")
            wide, _, _ = self._renderer.get_text_width_height_descent(text, font, False)
            left = x * self._scale - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
            base = (y + 0.35 * size) * self._scale
            self._renderer.draw_text(self._pencil(color, 0), left, base, text, font, 0, ismath=False)

    def _fill(self, points: np.ndarray, codes: np.ndarray, color: Rgb) -> None:
        face = tuple(channel / 255 for channel in color)
        self._renderer.draw_path(self._pencil(color, 0), self._path(points, codes), self._place, face)

    def _pencil(self, color: Rgb, width: float) -> Any:
        pencil = self._renderer.new_gc()
        pencil.set_foreground(tuple(channel / 255 for channel in color))
        pencil.set_linewidth(width * self._scale)
        # Snapped to whole pixels, what is narrower would vanish or be as wide as one.
        pencil.set_snap(False)
        return pencil
