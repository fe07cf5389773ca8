"""One file a panel: what of a recording it shows, as a `Chart`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..chart import Chart

__all__ = ["PANELS", "Panel"]


class Panel(NamedTuple):
    """A panel; `chart` of the module of its name describes it."""

    id: str

    def chart(self, *given: Any, **options: Any) -> Chart:
        """What it shows of a `Request`."""
        make: Callable[..., Chart] = import_module(f".{self.id.replace('-', '_')}", __name__).chart
        return make(*given, **options)


#: In the order in which a page shows them.
PANELS: dict[str, Panel] = {
    name: Panel(name)
    for name in (
        "findings",
        "time-budget",
        "task-stream",
        "critical-path",
        "what-if",
        "resources",
        "memory",
        "flame-graph",
        "fine-metrics",
        "progress",
        "functions",
        "transfers",
        "workers",
        "spans",
        "events",
        "compare",
    )
}
