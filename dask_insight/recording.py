"""A recording: batches in the order in which they came, and views of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments, frames, tables
from .answers import MADE, Answers
from .batch import Values, encode
from .columns import compact, length, steady
from .current import current
from .frames import Gap, RecordingError
from .identity import Identity
from .legible import printed
from .pack import packed
from .questions import Questions, above
from .schema import EXTENT, FORMAT, TABLES
from .slicing import between
from .tables.facts import CUT, PART, SINCE, UNTIL, ended, facts, moment, part_of_run

if TYPE_CHECKING:
    import pandas as pd

    from .hosts.notebook import Static
    from .hosts.widget.widget import InsightWidget

__all__ = ["Gap", "Recording", "RecordingError", "open_recording"]

_UNENDED = (
    "the recording had not ended when this file was opened: its process was killed or still runs, "
    "so its last seconds may be missing"
)
_NEWER = (
    "written in format {}, newer than {}.{}: what is new in it is not shown, and new columns are lost where "
    "it is saved again; install a newer dask_insight"
)
_CUT = "the recording went on, but its file took no more: {}"


class Recording(Questions):
    """What was recorded of one or more Dask computations.

    Made by `dask_insight.record`, `open`, `load` and `slice`. It may be read while
    it still grows: every view shows all tasks that have ended, what workers tell of them may take
    some seconds more. On the event loop of an asynchronous client it shows what has come so far.

    Each table is a pandas DataFrame under its name: ``tasks``, ``phases``,
    ``edges``, ``transfers``, ``transferred``, ``releases``, ``resources``,
    ``collections``, ``gpus``, ``memory``, ``gauges``, ``stacks``, ``samples``, ``sampling``,
    ``metrics``, ``events``, ``workers``, ``spans``, ``submissions``, ``cells``,
    ``functions``, ``fused``, ``lines``, ``errors``, ``clocks``, ``cache``,
    ``critical``, ``budget``, ``graph`` and the schema's raw ``attempts``, ``executions``, ``running``;
    where runs were compared, ``compared_names`` and others. It is made anew at each access, and is yours to
    change: ``tasks = run.tasks``. Times are seconds since `started`; `table` gives them as timestamps.
    `describe` says what stands in each column and in which unit. Texts that repeat are categories, in the
    order of the recording: ``.astype(str)`` makes text of them, and ``groupby(..., observed=True)`` leaves
    out those that no row has.

    Questions that sum by the task name, as `bottlenecks` and `critical_path`, take ``'function'``,
    ``'prefix'`` and ``'name'`` for it alike; what they give calls it as before.

    Attributes
    ----------
    identity
        Ids that its sources share.
    gaps
        Parts of its file that could not be read; also in ``events``, kind 'lost'.
    """

    tasks: pd.DataFrame
    phases: pd.DataFrame
    edges: pd.DataFrame
    transfers: pd.DataFrame
    transferred: pd.DataFrame
    resources: pd.DataFrame
    gpus: pd.DataFrame
    memory: pd.DataFrame
    gauges: pd.DataFrame
    stacks: pd.DataFrame
    samples: pd.DataFrame
    sampling: pd.DataFrame
    metrics: pd.DataFrame
    events: pd.DataFrame
    workers: pd.DataFrame
    spans: pd.DataFrame
    submissions: pd.DataFrame
    functions: pd.DataFrame
    fused: pd.DataFrame
    lines: pd.DataFrame
    errors: pd.DataFrame
    clocks: pd.DataFrame
    collections: pd.DataFrame
    releases: pd.DataFrame
    cells: pd.DataFrame
    cache: pd.DataFrame
    graph: pd.DataFrame
    attempts: pd.DataFrame
    executions: pd.DataFrame
    running: pd.DataFrame
    critical: pd.DataFrame
    budget: pd.DataFrame
    compared_sides: pd.DataFrame
    compared_runs: pd.DataFrame
    compared_budget: pd.DataFrame
    compared_names: pd.DataFrame
    compared_memory: pd.DataFrame
    compared_stacks: pd.DataFrame
    compared_findings: pd.DataFrame
    compared_settings: pd.DataFrame

    def __init__(self) -> None:
        super().__init__()
        self.identity = Identity()
        self._answers = Answers(self.columns, lambda: (self.end, self.turnover))

    @current
    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, or what a pickle gives, has all that has come so far, and no file."""
        return _restored, (self.batches(), list(self.gaps))

    @property
    def about(self) -> dict[str, Any]:
        """Facts about the recording as a whole: name, started, stopped, versions …"""
        return facts(self.columns("about"))

    @property
    def started(self) -> float:
        """The moment at which its seconds begin, seconds since the epoch; 0 while nothing has come."""
        first = moment(self.about.get("started"), np.inf)
        for table, names in EXTENT.items():
            columns: Any = self.columns(table)
            first = min(first, *(float(np.nanmin(columns[name], initial=np.inf)) for name in names))
        return first if np.isfinite(first) else 0.0

    @current
    def table(self, name: str, *, timestamps: bool = False) -> pd.DataFrame:
        """One table as a DataFrame.

        Parameters
        ----------
        name
            ``tasks``, ``transfers`` …; see `describe`.
        timestamps
            Moments as UTC timestamps instead of seconds since `started`.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        return tables.make(self._answers.columns, name, lambda: self.started, timestamps=timestamps)

    def describe(self, name: str | None = None) -> pd.DataFrame:
        """What stands in each column of a table (of all, by default), and in which unit.

        pandas shortens what it shows; the whole text of ``tasks`` is in ``help(Recording.tasks)``.
        ``"time_budget"`` and ``"critical_path"`` stand for the tables ``budget`` and ``critical``.

        Raises
        ------
        KeyError
            If there is no such table.
        """
        return tables.describe(name)

    @current
    def slice(self, start: float | None = None, stop: float | None = None) -> Recording:
        """What happened between two moments, as a recording of its own.

        Tasks, phases and transfers that overlap that time are kept whole, and so is what is known to be lost,
        nobody knows when; tasks that only waited then, and ran later, are there as ``waiting``. Samples of
        call stacks, collections of garbage and fine metrics have their share of it. Time budget, findings,
        critical path, bounds, what-ifs and reports tell of no more than that time.

        Parameters
        ----------
        start, stop
            Seconds since `started`, None for an open end; its own seconds count from the same moment.

        Raises
        ------
        TypeError, ValueError
            If one is no number, or `stop` is before `start`.
        """
        begin, end = arguments.between(start, stop)
        part = Recording()
        zero = self.started
        # While it grows, rows are chosen of the same columns that they are taken from.
        read = steady(self.columns)
        since, until = part_of_run(read)
        since, until = max(since, zero + begin), min(until, zero + end)
        for table, columns in between(read, since, until):
            part.append(encode(table, {name: compact(values) for name, values in columns.items()}))
        told = {"started": zero, SINCE: since, UNTIL: until}
        if (start, stop) != (None, None):
            told[PART] = True
        known = {name: json.dumps(when) for name, when in told.items() if np.isfinite(when)}
        part.append(encode("about", {"name": list(known), "value": list(known.values())}))
        part.gaps = list(self.gaps)
        return part

    def packed(self, *, coarse: bool = False, explained: bool = False) -> list[bytes]:
        """The whole recording in few, large, sorted batches, the form that compresses best.

        Parameters
        ----------
        explained
            With what is worked out from its other tables, as a page wants it.
        coarse
            Round what no picture shows: moments other than the start and stop
            of a task or a phase to 0.1 ms, single-precision floats to 0.2 %, others that
            are no whole numbers to 0.001 %; number the attempts anew; leave out what no page shows, as
            the code of notebook cells but for the lines that name them, and the arguments of tasks that
            failed, which Dask logs.
        """
        return packed(self._answers.look() if explained else self.columns, rounded=coarse)

    def answer(self, table: str) -> Mapping[str, Values]:
        """Columns of a table as `columns` gives them; one that can be worked out is."""
        return self._answers.columns(table)

    def _let_go(self) -> None:
        super()._let_go()
        self._answers.forget()
        self.identity.stacks.forget()

    def forget(self) -> None:
        """Let go of columns that are put together for each who reads them; here they stay for the next."""

    @current
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file; it appears whole or not at all.

        The file that it is being recorded to stays that: it is brought up to date, and what comes later
        goes into it too.

        Raises
        ------
        OSError
            If it cannot be written, or another process records to it.
        """
        place = arguments.local_path(path)
        if not self.checkpoint(place):
            frames.save(place, self.packed() + self.history.beside(TABLES))

    def explain(self) -> None:
        """Work out what its other tables explain (``budget``, ``critical`` …), and keep it as rows.

        They are worked out whenever they are asked for; kept, they go into files and reports too.
        What is there already, as in a recording that was opened, stays as it is.

        Raises
        ------
        RuntimeError
            If it is still being recorded: what ran by then would stand for all of it.
        """
        if self._bring is not None:
            raise RuntimeError("this recording still grows: explain it when it has ended, after the block")
        for table in MADE:
            if not length(self.columns(table)) and length(told := self._answers.columns(table)):
                self.append(encode(table, told))

    @current
    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one self-contained HTML page that shows it; returns its path.

        Parameters
        ----------
        path
            The file; one that is there is replaced.
        title
            Heading of the page; by default the recording's name.

        Raises
        ------
        TypeError, ValueError
            If the title is no text, or the path none of a file here.
        FileExistsError
            If a recording is there, which it would replace.
        """
        place = arguments.local_path(path)
        heading = None if title is None else arguments.text("title", title, "the heading of the page")
        written: Path = above("hosts.report", "write_report")(self, place, title=heading)
        return written

    @current
    def export(
        self,
        /,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        force: bool = False,
        **options: Any,
    ) -> Path:
        """Write it for another tool: Perfetto, speedscope, pprof, OpenTelemetry, Parquet …

        Parameters
        ----------
        path
            The file, or for ``csv``, ``parquet`` and ``panel="all"`` the folder. A
            name that ends in ``.gz`` is compressed.
        format
            ``'chrome'``, ``'speedscope'``, ``'collapsed'``, ``'pprof'``,
            ``'otlp'``, ``'mermaid'``, ``'json'``, ``'csv'``, ``'parquet'``, ``'svg'``, ``'png'``;
            by default what the file's name says.
        force
            Replace what is there.
        **options
            Of that format, as `dask_insight.exports.FORMATS` lists them:
            ``panel="task-stream"`` and what else `dask_insight.figures.svg`
            takes for pictures.

        Returns
        -------
        pathlib.Path
            What was written.

        Raises
        ------
        ValueError
            If the format is unknown, or the name says none.
        TypeError
            If the format has no such option.
        FileExistsError
            If something is there already.
        FileNotFoundError
            If there is no folder to write it into.
        ImportError
            If the format needs a library that is not installed; the message names it.
        """
        place = arguments.local_path(path)
        written: Path = above("exports", "export")(self, place, format, force=force, **options)
        return written

    def widget(self, panel: str | None = None) -> InsightWidget:
        """Its panels in the output of a notebook cell, while it grows and afterwards.

        Parameters
        ----------
        panel
            ``'task-stream'``, ``'memory'`` …; ``'overview'`` by default.

        Returns
        -------
        InsightWidget
            Python code follows and sets what is selected through its traits,
            and its `selected_tasks` gives the tasks that are.

        Raises
        ------
        ValueError
            If there is no such panel; the message lists those there are.
        ImportError
            If anywidget is not installed.
        """
        made: InsightWidget = above("hosts.widget", "show")(self, panel)
        return made

    def __repr__(self) -> str:
        return printed(
            f"<Recording {self.about.get('name', '')!r}: {self.summary(findings=False).verdict()}>"
        )

    def _repr_html_(self) -> str:
        # marimo asks for nothing else; IPython never asks for it.
        html: str = self._repr_mimebundle_().get("text/html") or self.summary()._repr_html_()
        return html

    def static(self) -> Static:
        """It as a picture and a table, for notebooks that are read where no scripts run."""
        made: Static = above("hosts.notebook", "Static")(self)
        return made

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        made: dict[str, Any] = above("hosts.notebook", "bundle")(self)
        return made


def _restored(batches: list[bytes], gaps: list[Gap]) -> Recording:
    recording = Recording()
    for batch in batches:
        recording.append(batch)
    recording.gaps = gaps
    return recording


def _table_attribute(name: str) -> property:
    lines = [
        f"    {field.name} [{field.unit}]: {field.doc}" if field.unit else f"    {field.name}: {field.doc}"
        for field in tables.FIELDS[name]
    ]
    doc = "\n".join((f"DataFrame of {name}, made anew at each access; columns:", "", *lines))
    return property(lambda self: self.table(name), doc=doc)


for _name in tables.FIELDS:
    if not hasattr(Recording, _name):
        setattr(Recording, _name, _table_attribute(_name))


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Open a recording file.

    Parts of it that are damaged are left out and named in `Recording.gaps`. If the recording never
    ended, because its process was killed or still runs, ``events`` says so.

    Raises
    ------
    RecordingError
        If it is no recording, or a URL, or its format is too new.
    FileNotFoundError
        If there is no such file.
    """
    try:
        place = arguments.local_path(path)
    except ValueError as error:
        raise RecordingError(str(error)) from None
    recording = Recording()
    gaps = []
    for item in frames.read(place):
        if isinstance(item, Gap):
            gaps.append(item)
        else:
            recording.append(item)
    for gap in gaps:
        recording.lost(gap)
    about = recording.about
    if not ended(about) or not recording.end:
        _tell_unended(recording, _CUT.format(about[CUT]) if CUT in about else _UNENDED)
    if newer := frames.newer(place):
        recording.tell("lost", _NEWER.format(newer, *FORMAT))
    return recording


def _tell_unended(recording: Recording, why: str) -> None:
    """Once: one that was opened and saved has it already, and what its stacks tell."""
    told: Any = recording.columns("events")["message"]
    if not len(told.rows_of(why)):
        recording.tell("lost", why)
        _see_functions(recording)


def _see_functions(recording: Recording) -> None:
    """What call stacks tell of functions stands in a recording only when it has ended."""
    try:
        if columns := above("analysis.code", "functions_seen")(recording.columns):
            recording.append(encode("functions", columns))
    except Exception as error:
        recording.tell("lost", f"functions could not be told from stacks: {type(error).__name__}: {error}")
