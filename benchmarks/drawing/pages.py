"""The pages that are measured: our report, our task stream alone, and the same rectangles in Bokeh."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np

from dask_insight.batch import Symbols
from dask_insight.recording import Recording

from ..synthetic import Size, synthetic

HERE = Path(__file__).parent
LANES = 64
NAMES = 40

_STREAM = """\
<!doctype html><html lang="en">
<head><meta charset="utf-8"><title>Task stream</title><style>{style}</style></head>
<body class="di-page"><main id="page"></main>
{blocks}
<script>{script}</script></body></html>
"""


def recording_of(tasks: int) -> Recording:
    """A plausible run; only what stands in the task stream and the tables around it is large."""
    return synthetic(Size(tasks=tasks, lanes=LANES, names=NAMES, samples=20_000, stacks=500))


def report_page(recording: Recording, path: Path) -> None:
    """The report as a person gets it."""
    recording.report(path)


def stream_page(report: Path, path: Path) -> None:
    """The report's data with the task stream alone, and handles on it for the measurement."""
    text = report.read_text("utf-8")
    blocks = "\n".join(re.findall(r'<script[^>]*class="batches"[^>]*>[^<]*</script>', text))
    script = bundle("stream.ts").replace("</script", r"<\/script")
    style = "".join(
        (HERE.parent.parent / "src-ts/panels" / name).read_text() for name in ("panels.css", "mount.css")
    )
    path.write_text(_STREAM.format(style=style, blocks=blocks, script=script), "utf-8")


def bundle(entry: str) -> str:
    """One of the scripts beside this file, with all that it imports."""
    command = ["node", str(HERE / "bundle.mjs"), str(HERE / entry)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def bokeh_page(recording: Recording, path: Path) -> None:
    """Dask's own task stream, as its reports hold it: Bokeh's rectangles on a canvas, scripts inside."""
    from bokeh.embed import file_html
    from bokeh.models import Range1d
    from bokeh.resources import INLINE
    from distributed.dashboard.components.scheduler import task_stream_figure

    rectangles = rectangles_of(recording)
    source, figure = task_stream_figure(width=1600, height=800, output_backend="canvas")
    source.data.update(rectangles)
    starts, durations = np.array(rectangles["start"]), np.array(rectangles["duration"])
    # A range of its own, so that it can be moved from outside.
    figure.x_range = Range1d(
        start=float((starts - durations / 2).min()), end=float((starts + durations / 2).max())
    )
    path.write_text(file_html(figure, INLINE, title="Task stream"), "utf-8")


def rectangles_of(recording: Recording) -> dict[str, list[object]]:
    """The attempts as `distributed.diagnostics.task_stream.rectangles` gives them, without transfers."""
    from dask.utils import format_time
    from distributed.diagnostics.progress_stream import color_of

    attempts, graph = recording.columns("attempts"), recording.columns("graph")
    rows = np.argsort(np.asarray(graph["task"]), kind="stable")
    rows = rows[np.searchsorted(np.asarray(graph["task"])[rows], np.asarray(attempts["task"]))]
    start, stop = np.asarray(attempts["start"]), np.asarray(attempts["stop"])
    prefix, status = graph["prefix"], attempts["status"]
    assert isinstance(prefix, Symbols) and isinstance(status, Symbols)
    names = [prefix.names[code] for code in prefix.codes[rows]]
    erred = [status.names[code] != "ok" for code in status.codes]
    workers = attempts["worker"].tolist()
    threads = [
        f"{worker}-{thread}" for worker, thread in zip(workers, attempts["thread"].tolist(), strict=True)
    ]
    places = {thread: place / 2 for place, thread in enumerate(dict.fromkeys(threads))}
    keys = graph["key"]
    return {
        "start": ((start + stop) / 2 * 1000).tolist(),
        "duration": ((stop - start) * 1000).tolist(),
        "duration_text": [format_time(seconds) for seconds in (stop - start).tolist()],
        "key": [keys[int(row)] for row in rows],
        "name": names,
        "color": ["black" if bad else color_of(name) for name, bad in zip(names, erred, strict=True)],
        "alpha": [1] * len(names),
        "worker": workers,
        "worker_thread": threads,
        "y": [places[thread] for thread in threads],
    }
