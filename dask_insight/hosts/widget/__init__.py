"""Panels as a widget: `Recording.widget` and `dask_insight.watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .panels import PANELS, known_panel

if TYPE_CHECKING:
    from dask_insight.recording import Recording

    from .widget import InsightWidget

__all__ = ["PANELS", "show", "watch"]


def show(recording: Recording, panel: str | None = None) -> InsightWidget:
    """A recording's panels as a widget; see `Recording.widget`."""
    widget: InsightWidget = _widget_class()(recording, known_panel(panel))
    return widget


def watch(client: Any = None, panel: str | None = None) -> InsightWidget:
    """What Dask does right now, as panels in the output of a notebook cell.

    ::

        dask_insight.watch()

    It begins at once, and ends when the widget is closed, the cell that
    shows it runs again, or ``%unload_ext dask_insight`` ends all. Widgets
    that watch the same share one recording; after ``%load_ext dask_insight``
    also that of JupyterLab's panels.

    Parameters
    ----------
    client
        Watch only this client's cluster; by default those of all clients of
        this process, those made later included, and the local schedulers.
    panel
        ``'task-stream'``, ``'memory'`` …; the overview by default.

    Returns
    -------
    InsightWidget
        Python code follows and sets what is selected through its traits.

    Raises
    ------
    TypeError
        If `client` is none.
    ValueError
        If there is no such panel; the message lists those there are.
    ImportError
        If anywidget is not installed.
    """
    from ...session.settings import client_of
    from .watched import hold

    name, widget_class = known_panel(panel), _widget_class()
    session, release = hold(client_of(client), lambda: widget.end())
    try:
        widget: InsightWidget = widget_class(
            session.recording, name, title="Live", state=session.state, release=release
        )
    except BaseException:
        release()
        raise
    return widget


def _widget_class() -> Any:
    try:
        from .widget import InsightWidget
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("anywidget", "ipywidgets", "comm"):
            raise
        raise ImportError(
            f"panels in a notebook's output need {missing}: "
            '`pip install -U anywidget "ipywidgets>=8.0.5"`, then restart the kernel and reload the page'
        ) from error
    return InsightWidget
