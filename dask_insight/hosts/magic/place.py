"""The one output under a cell in which progress stands, and then the result."""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Callable
from typing import Any

#: Clearing and showing take turns.
_lock = threading.RLock()


class Place:
    """What is put here takes the place of what was here before.

    Where the cell has cleared its output, only what is to stay is shown, and
    stands anew: pages throw away what is to take the place of an output that
    has gone.

    Parameters
    ----------
    shell
        What is its publisher now shows what is put here, also while something in the cell captures outputs.
    """

    def __init__(self, shell: Any) -> None:
        self._publisher = shell.display_pub
        self._display = _new()
        self._cleared = self._kept = False
        #: Whether something stands here that is not to stay.
        self.taken = False

    def put(self, data: dict[str, Any]) -> None:
        """Show a MIME bundle here until `keep`; from any thread."""
        with _lock:
            # An output widget within the cell, cleared in the same way, would catch it where it stands anew.
            if not (self._cleared or self._kept) and (self.taken or not _is_caught()):
                self._publish(data, update=self.taken)
                self.taken = True

    def keep(self, data: dict[str, Any], *others: dict[str, Any]) -> None:
        """Show a MIME bundle here that is to stay, and others below it."""
        with _lock:
            if self._cleared:
                # It may be there still, where a widget was cleared.
                self._publish({}, update=True)
                self._display, self._cleared, self.taken = _new(), False, False
            self._publish(data, update=self.taken)
            self.taken, self._kept = False, True
            for other in others:
                self._publisher.publish(data=other, metadata={})

    def _publish(self, data: dict[str, Any], *, update: bool) -> None:
        transient = {"display_id": self._display}
        self._publisher.publish(data=data, metadata={}, transient=transient, update=update)

    def watch(self) -> Callable[[], None]:
        """Notice from now on that the cell clears its output; gives what ends that."""
        publisher = self._publisher
        with _lock:
            clearing = vars(publisher).get("clear_output")
            if not isinstance(clearing, _Clearing):
                clearing = publisher.clear_output = _Clearing(publisher)
            clearing.places.append(self)

        def end() -> None:
            with _lock:
                clearing.places.remove(self)
                if not clearing.places:
                    clearing.end()

        return end

    def cleared(self) -> None:
        """The cell's output has been cleared."""
        self._cleared = self.taken


class _Clearing:
    """A publisher's `clear_output`, which places are told of while there are any."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._before = vars(publisher).get("clear_output")
        self._clear: Callable[..., None] = publisher.clear_output
        self.places: list[Place] = []

    def __call__(self, *args: Any, **options: Any) -> None:
        with _lock:
            self._clear(*args, **options)
            for place in self.places:
                place.cleared()

    def end(self) -> None:
        """Leave the publisher as it was, unless somebody else stands for it now."""
        if vars(self._publisher).get("clear_output") is self:
            del self._publisher.clear_output
            if self._before is not None:
                self._publisher.clear_output = self._before


def _is_caught() -> bool:
    """Whether an output widget takes what is shown now; in it nothing can be replaced."""
    output = sys.modules.get("ipywidgets.widgets.widget_output")
    if output is None:
        return False
    widgets = getattr(sys.modules["ipywidgets.widgets.widget"], "_instances", {})
    return any(isinstance(each, output.Output) and each.msg_id for each in list(widgets.values()))


def _new() -> str:
    return f"dask-insight-{uuid.uuid4()}"
