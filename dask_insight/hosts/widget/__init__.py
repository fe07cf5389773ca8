"""Panels as a widget: `Recording.widget` and `dask_insight.watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .panels import PANELS, known_panel

if TYPE_CHECKING:
    from dask_insight.recording import Recording

    from .widget import InsightWidget

__all__ = ["PANELS", "show"]


def show(recording: Recording, panel: str | None = None) -> InsightWidget:
    """A recording's panels as a widget; see `Recording.widget`."""
    return _widget_class()(recording, known_panel(panel))


def _widget_class() -> Any:
    try:
        from .widget import InsightWidget
    except ModuleNotFoundError as error:
        if error.name not in ("anywidget", "ipywidgets", "comm"):
            raise
        raise ImportError(
            "panels in a notebook's output need anywidget: `pip install anywidget`, then reload the page"
        ) from error
    return InsightWidget
