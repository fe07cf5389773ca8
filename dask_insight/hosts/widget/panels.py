"""The panels that there are, by the names that the page has for them."""

from __future__ import annotations

from ...figures.defaults import OVERVIEW
from ...figures.panels import PANELS, panel_id

__all__ = ["PANELS", "known_panel"]


def known_panel(name: str | None) -> str | None:
    """The id of a panel; ``Task stream`` and ``task_stream`` mean ``task-stream``, None is the overview.

    Raises
    ------
    ValueError
        If there is no such panel; the message lists those there are.
    """
    wanted = OVERVIEW if name is None else panel_id(str(name))
    if wanted == OVERVIEW:
        return None
    if wanted not in PANELS:
        raise ValueError(f"there is no panel {name!r}; there are {', '.join((OVERVIEW, *PANELS))}")
    return wanted
