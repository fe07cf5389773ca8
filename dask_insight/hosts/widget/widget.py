"""Panels in the output of a notebook cell, live or of a finished recording."""

from __future__ import annotations

import os
import platform
import sys
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from html import escape
from importlib import resources
from math import inf
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from ipywidgets import __protocol_version__

from dask_insight.arguments import known_prefixes, known_processes
from dask_insight.columns import steady
from dask_insight.legible import harmless
from dask_insight.session.feed import own_version
from dask_insight.tables.facts import ended
from dask_insight.words import marked

from .comm import WidgetComm, open_comm
from .connection import Connection
from .messenger import messenger
from .outputs import OUTPUTS
from .panels import known_panel
from .selected import Choice, selected_tasks

if TYPE_CHECKING:
    import pandas as pd

    from dask_insight.recording import Recording

_WITHOUT_KERNEL = (
    "These panels of dask_insight show in a notebook what its kernel holds. "
    "Run this cell again to see them there. What stays is a report: "
    'end a cell with the recording itself, or write a page: run.report("run.html").'
)


#: What finds, as the recording has it, what a person selects by name.
_KNOWN = {"names": known_prefixes, "workers": known_processes}


@cache
def _asset(name: str) -> str:
    found = resources.files("dask_insight") / "static" / name
    try:
        return found.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RuntimeError(
            f"{name} is not in this installation of dask_insight; `npm run build` in its source makes it"
        ) from None


def _grows(about: Mapping[str, Any]) -> bool:
    """Whether a recording is being made in this very process."""
    here = about.get("pid") == os.getpid() and about.get("host") == platform.node()
    return here and not ended(about)


def _nothing() -> None:
    pass


def _several(trait: traitlets.TraitType[Any, Any], doc: str) -> Any:
    return traitlets.List(trait, default_value=None, allow_none=True, help=doc).tag(sync=True)


class InsightWidget(anywidget.AnyWidget):
    """Panels of one recording, wherever notebooks show widgets.

    `Recording.widget` and `dask_insight.watch` make it. What a person selects
    in the panels stands in the traits below, and what is assigned to them is
    selected in the panels; ``widget.observe(callback, names=...)`` follows it.

    Attributes
    ----------
    recording : Recording
        What it shows.
    panel : str or None
        The one panel that is shown; None for the overview.
    time_range : tuple of float, or None
        Seconds since the recording's `started`.
    names, workers, spans : list of str, or None
        Task names (Dask's prefixes), addresses of workers, ids of spans. A worker's
        name becomes its address; what the recording lacks is refused, or kept as it is while
        it still grows.
    runs, cells : list of int, or None
        Ids of attempts (column ``run`` of ``tasks``), execution counts of notebook cells.
    lines : list of str, or None
        Lines of code that started computations, as ``file:line``.

    Notes
    -----
    None means "not narrowed". All that is narrowed holds together, as in the
    panels: `selected_tasks` gives the tasks that are left.
    """

    if TYPE_CHECKING:
        comm: Any
        layout: Any

    panel = traitlets.Unicode(None, allow_none=True, help="The one panel that is shown.").tag(sync=True)
    time_range = traitlets.Tuple(
        traitlets.Float(), traitlets.Float(), default_value=None, allow_none=True, help="Selected time."
    ).tag(sync=True)
    names = _several(traitlets.Unicode(), "Selected task names.")
    workers = _several(traitlets.Unicode(), "Selected workers.")
    spans = _several(traitlets.Unicode(), "Selected spans.")
    runs = _several(traitlets.Int(), "Selected attempts.")
    cells = _several(traitlets.Int(), "Selected notebook cells.")
    lines = _several(traitlets.Unicode(), "Selected lines of code.")

    _key = traitlets.Unicode().tag(sync=True)
    _started = traitlets.Float(0.0).tag(sync=True)
    _live = traitlets.Bool(False).tag(sync=True)
    _title = traitlets.Unicode().tag(sync=True)
    _verdict = traitlets.Unicode().tag(sync=True)
    _version = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        recording: Recording,
        panel: str | None = None,
        *,
        title: str = "",
        state: Callable[[], Mapping[str, Any]] | None = None,
        release: Callable[[], None] = _nothing,
    ) -> None:
        self.recording = recording
        self._state = state
        self._release = release
        self._connection = Connection(recording, self.send, self._tell)
        self._messenger = messenger()
        self._ended = False
        self._esm = _asset("widget.js")
        self._css = _asset("widget.css")
        about = recording.about
        live = state is not None or _grows(about)
        super().__init__(
            panel=known_panel(panel),
            _key=uuid.uuid4().hex,
            _live=live,
            _title=title or str(about.get("name") or "Recording"),
            _verdict="" if live else recording.summary(findings=False).verdict(),
            _version=own_version(),
            _started=recording.started,
        )
        self._own_layout = self.layout
        self.on_msg(lambda _widget, message, _buffers: self._connection.receive(message))
        chosen = [name for name in self.traits(sync=True) if not name.startswith("_")]
        self.observe(lambda _change: self._connection.touched(), chosen)

    def selected_tasks(self) -> pd.DataFrame:
        """The rows of the recording's ``tasks`` that the selection leaves.

        Returns
        -------
        DataFrame
            As `Recording.tasks`; tasks that overlap the selected time are kept whole.
        """
        choice = Choice(
            self.time_range, self.names, self.workers, self.spans, self.runs, self.cells, self.lines
        )
        return selected_tasks(self.recording, choice)

    @traitlets.observe("comm")
    def _rest_with_comm(self, change: Mapping[str, Any]) -> None:
        """marimo closes the comms of a cell that is run again, and tells no widget."""
        comm = change["new"]
        if comm is None or isinstance(comm, WidgetComm):
            return
        close = comm.close

        def close_and_rest(*args: Any, **options: Any) -> None:
            comm.close = close
            close(*args, **options)
            if self.comm is comm:
                self.rest()

        comm.close = close_and_rest

    @traitlets.validate("panel")
    def _valid_panel(self, proposal: Mapping[str, Any]) -> str | None:
        return known_panel(proposal["value"])

    @traitlets.validate("time_range")
    def _valid_time(self, proposal: Mapping[str, Any]) -> tuple[float, float] | None:
        value: tuple[float, float] | None = proposal["value"]
        # JSON, by which pages hear of it, has no infinite numbers.
        if value is not None and not -inf < value[0] <= value[1] < inf:
            raise ValueError(f"time_range is (start, stop), finite seconds since the start, not {value}")
        return value

    @traitlets.validate("names", "workers", "spans", "runs", "cells", "lines")
    def _valid_list(self, proposal: Mapping[str, Any]) -> list[Any] | None:
        """From Python an empty list narrows nothing; from a page it says that nothing is left."""
        value: list[Any] | None = proposal["value"]
        name = proposal["trait"].name
        if name in self._property_lock:
            return value
        return self._known(name, value) if value and name in _KNOWN else value or None

    def _known(self, trait: str, wanted: list[str]) -> list[str]:
        """Names as the recording has them; while it grows, others may come."""
        read = steady(self.recording.columns)
        found: list[str] = []
        for each in wanted:
            try:
                found += _KNOWN[trait](read, each)
            except ValueError:
                if not self._live:
                    raise
                found.append(each)
        return list(dict.fromkeys(found))

    @property
    def model_id(self) -> str:
        """Id under which pages know it."""
        if self.comm is None and not self._ended:
            self.open()
        return str(self.comm.comm_id)

    def open(self) -> None:
        """Have pages know it; done by itself."""
        if self.comm is None and not self._ended:
            self._layout_open()
            self.comm = open_comm({"state": self.get_state(), "buffer_paths": []}, __protocol_version__)

    def end(self) -> None:
        """Watch no more: pages keep what they have."""
        with ExitStack() as rest:
            rest.callback(self._connection.stop)
            rest.callback(self._tell)
            self._give_back()

    def close(self) -> None:
        """End it: pages show it no more, nothing of it is left in the kernel but what it has selected."""
        self._ended = True
        with ExitStack() as rest:
            rest.callback(super().close)
            self._shut()

    def rest(self) -> None:
        """No output shows it any more: like `close`, until it is shown again."""
        with ExitStack() as rest:
            rest.callback(self.__dict__.pop, "_repr_mimebundle_", None)
            rest.callback(super().close)
            self._shut()

    def _shut(self) -> None:
        with ExitStack() as rest:
            rest.callback(self._give_back)
            if (layout := self.__dict__.get("_own_layout")) is not None and layout.comm is not None:
                rest.callback(layout.close)
            if self._messenger is not None:
                rest.callback(self._messenger.end)
            rest.callback(self._connection.stop)
            OUTPUTS.forget(self)

    def _give_back(self) -> None:
        """Once: who is garbage is closed again, maybe on a thread that is begun under the lock of this."""
        self._release()
        self._release = _nothing

    def _send(self, msg: Any, buffers: Any = None) -> None:
        if (messenger := self.__dict__.get("_messenger")) is None:
            super()._send(msg, buffers)
        else:
            messenger.say(partial(super()._send, msg, buffers))

    def _layout_open(self) -> None:
        if self.layout.comm is None:
            self.layout.open()

    def _tell(self) -> Mapping[str, Any]:
        """What the pages are told besides the data."""
        if not self._started:
            self._started = self.recording.started
        if self._live and "stopped" in self.recording.about:
            self._verdict = self.recording.summary(findings=False).verdict()
            self._live = False
        return {} if self._state is None else self._state()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        if self._ended:
            return None
        self.open()
        OUTPUTS.show(self)
        bundle: Any = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle
        return data | self._without_kernel(), metadata

    def _without_kernel(self) -> dict[str, str]:
        """What stands in a saved notebook for those who have no kernel, or show no widgets."""
        words = f"{self._title}: {self._verdict}" if self._verdict else self._title
        text = harmless(f"{words}\n{_WITHOUT_KERNEL}")
        if "google.colab" in sys.modules:
            return {"text/plain": text}
        html = f"<p>{marked(words)}</p><p>{escape(_WITHOUT_KERNEL)}</p>"
        return {"text/plain": text, "text/html": html}
