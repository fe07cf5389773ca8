"""Sampled call stacks as `distributed.Client.profile` gives them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from distributed.profile import create, plot_data, plot_figure

from ..analysis.flame import flame
from ..arguments import between, known_processes, seconds
from ..columns import steady
from ..recording import Recording

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["profile"]

State = dict[str, Any]


def profile(
    recording: Recording,
    key: str | None = None,
    start: float | None = None,
    stop: float | None = None,
    workers: Any = None,
    merge_workers: bool = True,
    plot: bool | str = False,
    filename: str | None = None,
    server: bool = False,
    scheduler: bool = False,
    *,
    interval: float = 0.01,
) -> Any:
    """What `distributed.Client.profile` tells, from a recording, whose cluster may be long gone.

    Leaf frames are in it, which Dask's own profiler drops, and a sample counts for as long as it stood
    for, also where it came late.

    Parameters
    ----------
    recording
        Where the samples are.
    key
        Only tasks of this name.
    start, stop
        Only this time, seconds since the epoch.
    workers
        Only these workers: one or several addresses or names.
    merge_workers
        One state for all, or a state for each worker by its address.
    plot
        Give a Bokeh figure too; ``'save'`` saves it to ``dask-profile.html``.
    filename
        Save the figure there.
    server
        What workers' event loops did while they stood still: otherwise they are not looked at. A warning
        says where a recording has none of it.
    scheduler
        What the scheduler's process did; a warning as above.
    interval
        Seconds for which one count stands; Dask's figures take `distributed.worker.profile.interval`.

    Returns
    -------
    dict or tuple
        The state: ``count``, ``identifier``, ``description`` (``name``, ``filename``, ``line_number``,
        ``line``) and ``children`` by identifier, each again such a state. With a figure, state and figure.

    Raises
    ------
    ValueError
        If there is no such worker in the recording, or states of several workers are to be drawn.
    """
    named = None if workers is None else known_processes(steady(recording.columns), workers)
    processes = ["scheduler"] if scheduler else named
    inside = None if scheduler else not server
    during, count = between(start, stop), seconds("interval", interval)

    def state_of(process: list[str] | None) -> State:
        tree = flame(recording.columns, during, prefix=key, process=process, inside=inside)
        return _state(tree, _lines(recording), count)

    if not merge_workers and not scheduler:
        if plot or filename:
            raise ValueError("states of several workers cannot be drawn as one: merge_workers=True")
        known = processes if processes is not None else _all(recording)
        states = {each: state_of([each]) for each in known}
        if server and not any(state["count"] for state in states.values()):
            _warn_of_none("workers outside their tasks")
        return states
    state = state_of(processes if processes is not None or not server else _all(recording))
    if (scheduler or server) and not state["count"]:
        _warn_of_none("the scheduler" if scheduler else "workers outside their tasks")
    if not plot and not filename:
        return state
    figure, _ = plot_figure(plot_data(state, count), sizing_mode="stretch_both")
    if plot == "save" and not filename:
        filename = "dask-profile.html"
    if filename:
        from bokeh.plotting import save

        save(figure, title="Dask Profile", filename=filename, resources="inline")
    return state, figure


def _warn_of_none(who: str) -> None:
    """An empty state looks as if nothing had been done."""
    message = (
        f"no call stacks of {who} are in this recording, or none of what was asked for: "
        "dask_insight.record(profile=True) takes them; run.flame() shows what there is"
    )
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def _all(recording: Recording) -> list[str]:
    workers: Any = recording.columns("workers")
    return list(dict.fromkeys(workers["worker"].tolist()))


def _lines(recording: Recording) -> dict[tuple[str, int], str]:
    lines: Any = recording.columns("lines")
    rows = zip(lines["file"].tolist(), lines["line"].tolist(), lines["text"].tolist(), strict=True)
    return {(file, line): text.strip() for file, line, text in rows}


def _state(tree: pd.DataFrame, lines: dict[tuple[str, int], str], interval: float) -> State:
    """The tree of `Recording.flame` as nested states."""
    counts = np.rint(tree["total"].to_numpy() / interval).astype("i8").tolist()
    parents = tree["parent"].tolist()
    below = [0] * len(counts)
    for row in range(len(counts) - 1, -1, -1):
        # What is too short to count by itself counts where it was called from.
        counts[row] = max(counts[row], below[row])
        if parents[row] >= 0:
            below[parents[row]] += counts[row]
    root: State = create()
    states: list[State] = []
    columns = ("function", "file", "line", "first_line")
    rows = zip(*(tree[name].tolist() for name in columns), parents, counts, strict=True)
    for function, file, line, first, parent, count in rows:
        where = {"filename": file, "name": function, "line_number": line, "line": lines.get((file, line), "")}
        state = {
            "count": count,
            "description": where,
            "children": {},
            "identifier": f"{function};{file};{first}",
        }
        states.append(state)
        above = states[parent] if parent >= 0 else root
        if parent < 0:
            root["count"] += count
        if count:
            above["children"][state["identifier"]] = state
    return root
