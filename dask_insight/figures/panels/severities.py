"""Colours of how grave something is."""

from __future__ import annotations

from ..colors import Rgb
from ..theme import Theme

_COLORS: dict[str, tuple[Rgb, Rgb]] = {
    "critical": ((196, 43, 28), (255, 138, 128)),
    "warning": ((184, 98, 0), (240, 178, 82)),
    "info": ((112, 120, 130), (150, 158, 168)),
}


def severity_colors(theme: Theme) -> dict[str, Rgb]:
    """A colour for each severity, the gravest first."""
    return {name: pair[theme.dark] for name, pair in _COLORS.items()}
