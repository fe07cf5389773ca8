"""What a picture is drawn with; positions in pixels from the upper left corner."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np

from ..colors import Rgb

Anchor = Literal["start", "middle", "end"]


class Pen(Protocol):
    """Draws one thing over the other."""

    def boxes(self, x: np.ndarray, y: np.ndarray, width: np.ndarray, height: np.ndarray, color: Rgb) -> None:
        """Filled rectangles of one colour."""
        ...

    def line(self, x: np.ndarray, y: np.ndarray, color: Rgb, *, width: float, dashed: bool) -> None:
        """Points joined in order."""
        ...

    def polygon(self, x: np.ndarray, y: np.ndarray, color: Rgb) -> None:
        """A filled shape."""
        ...

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
        """A line of text whose middle stands at `y`."""
        ...

    def note(self) -> str:
        """What of the texts drawn so far cannot be read; '' for nothing."""
        ...
