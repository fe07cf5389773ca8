"""The few colours of a drawing besides those of names: light, or drawn for dark."""

from __future__ import annotations

from typing import NamedTuple

from .colors import Rgb, mixed


class Theme(NamedTuple):
    """Background, three greys from the strongest, and grid lines."""

    dark: bool
    background: Rgb
    text: Rgb
    muted: Rgb
    faint: Rgb
    grid: Rgb

    def wash(self, color: Rgb) -> Rgb:
        """A pale form of a colour."""
        return mixed(self.background, color, 0.34 if self.dark else 0.56)

    def grey(self, light: float, night: float) -> Rgb:
        """A grey so far from the background, 0 to 1 in linear light."""
        ink = (255, 255, 255) if self.dark else (0, 0, 0)
        return mixed(self.background, ink, night if self.dark else light)


def _made(dark: bool, background: Rgb) -> Theme:
    bare = Theme(dark, background, background, background, background, background)
    return bare._replace(
        text=bare.grey(0.985, 0.78),
        muted=bare.grey(0.88, 0.36),
        faint=bare.grey(0.55, 0.16),
        grid=bare.grey(0.1, 0.009),
    )


THEMES = {
    "light": _made(False, (255, 255, 255)),
    "dark": _made(True, (24, 26, 30)),
}


def theme_of(name: str) -> Theme:
    """The theme of a name.

    Raises
    ------
    ValueError
        If it is neither light nor dark.
    """
    if name not in THEMES:
        raise ValueError(f"theme {name!r} is none of {', '.join(THEMES)}")
    return THEMES[name]
