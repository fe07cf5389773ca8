"""The panels that there are, by the names that the page has for them."""

from __future__ import annotations

from ...figures.panels import PANELS

__all__ = ["PANELS", "known_panel"]


def known_panel(name: str | None) -> str | None:
    """The id of a panel; ``Task stream`` and ``task_stream`` mean ``task-stream``, None stays None.

    Raises
    ------
    ValueError
        If there is no such panel; the message lists those there are.
    """
    if name is None:
        return None
    wanted = str(name).strip().lower().replace(" ", "-").replace("_", "-")
    if wanted not in PANELS:
        raise ValueError(f"there is no panel {name!r}; there are {', '.join(PANELS)}")
    return wanted
