"""Charts as SVG, with no library at all, and as PNG by matplotlib: neither needs a browser."""

from .page import Page, Words
from .png import PngPen
from .svg import SvgPen

__all__ = ["Page", "PngPen", "SvgPen", "Words"]
