"""One file a panel: what of a recording it shows, as a `Chart`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ...arguments import TASK_NAME

if TYPE_CHECKING:
    from ..chart import Chart
    from ..request import Request

__all__ = ["OPTIONS", "PANELS", "PART", "Panel", "panel_id"]

#: What chooses a part of a recording: a time, task names, workers.
PART = ("start", "stop", "prefix", "worker")


class Panel(NamedTuple):
    """A panel; `chart` of the module of its name describes it.

    Attributes
    ----------
    id
        Its name.
    part
        Which parts of a recording it can show, of `PART`.
    """

    id: str
    part: tuple[str, ...] = PART

    def chart(self, request: Request, **options: Any) -> Chart:
        """What it shows of a request."""
        make: Callable[..., Chart] = import_module(f".{self.id.replace('-', '_')}", __name__).chart
        return make(request, **options)

    def takes(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Which parts of a recording it can show with these options of its own."""
        return PART if options.get("by") in TASK_NAME else self.part

    def check(self, asked: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        """Refuse what would choose nothing: the drawing would say that it did.

        Raises
        ------
        ValueError
            If a part is asked for that it cannot show.
        """
        taken = self.takes(options)
        for name in PART:
            if asked.get(name) is not None and name not in taken:
                there = f"; it takes {', '.join(taken)}" if taken else ""
                raise ValueError(f"{name}= chooses nothing in the panel {self.id!r}: leave it out{there}")


def panel_id(name: str) -> str:
    """How panels are called: ``Task stream`` and ``task_stream`` mean ``task-stream``."""
    return name.strip().lower().replace(" ", "-").replace("_", "-")


#: What one panel takes beside a `Request`, and which.
OPTIONS: dict[str, str] = {"measures": "resources", "by": "memory", "unit": "fine-metrics"}
#: In the order in which a page shows them.
PANELS: dict[str, Panel] = {
    panel.id: panel
    for panel in (
        Panel("findings"),
        Panel("time-budget"),
        Panel("task-stream"),
        Panel("critical-path"),
        Panel("what-if", ()),
        Panel("resources", ("start", "stop", "worker")),
        Panel("memory", ("start", "stop", "worker")),
        Panel("flame-graph"),
        Panel("fine-metrics"),
        Panel("progress", ("start", "stop", "prefix")),
        Panel("functions"),
        Panel("transfers"),
        Panel("workers"),
        Panel("spans"),
        Panel("events", ("start", "stop", "worker")),
        Panel("compare", ()),
    )
}
