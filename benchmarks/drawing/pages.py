"""The pages that are measured: ours, and those of the peers that hold the same."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from dask_insight.recording import Recording

from ..synthetic import Size, synthetic

HERE = Path(__file__).parent
LANES = 64
NAMES = 40

#: Sizes of the task stream that are measured.
SIZES = (10_000, 100_000, 1_000_000)

STYLE = "".join(
    (HERE.parent.parent / "src-ts/panels" / name).read_text("utf-8") for name in ("panels.css", "mount.css")
)

_PAGE = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{style}</style></head>
<body class="di-page"><main id="page"></main>
{blocks}
<script>{script}</script></body></html>
"""


def recording_of(tasks: int) -> Recording:
    """A plausible run; only what stands in the task stream and the tables around it is large."""
    return synthetic(Size(tasks=tasks, lanes=LANES, names=NAMES, samples=20_000, stacks=500))


def stream_pages(tasks: int, folder: Path) -> dict[str, Path]:
    """The report of so many tasks, its task stream alone, and Dask's own."""
    files = {name: folder / f"{name}-{tasks}.html" for name in ("report", "stream", "bokeh")}
    recording = recording_of(tasks)
    recording.report(files["report"])
    stream_page(files["report"], files["stream"])
    bokeh_page(recording, files["bokeh"])
    return files


def flame_pages(size: int, folder: Path) -> dict[str, Any]:
    """The same tree of calls in our flame graph, in flame-chart-js and in speedscope."""
    files: dict[str, Any] = {"size": size}
    for name, entry in (("ours", "flame.ts"), ("flameChart", "flame-chart-js.ts")):
        path = folder / f"{name}.html"
        path.write_text(
            _PAGE.format(title="Flame graph", style=STYLE, blocks="", script=bundle(entry)), "utf-8"
        )
        files[name] = str(path)
    writer, profile = folder / "speedscope.cjs", folder / "profile.js"
    writer.write_text(bundle("speedscope.ts"), "utf-8")
    profile.write_bytes(
        subprocess.run(["node", str(writer), str(size)], check=True, stdout=subprocess.PIPE).stdout
    )
    index = HERE / "node_modules/speedscope/dist/release/index.html"
    return files | {"speedscope": str(index), "profile": str(profile)}


def stream_page(report: Path, path: Path) -> None:
    """The report's data with the task stream alone, and handles on it for the measurement."""
    text = report.read_text("utf-8")
    blocks = "\n".join(re.findall(r'<script[^>]*class="batches"[^>]*>[^<]*</script>', text))
    page = _PAGE.format(title="Task stream", style=STYLE, blocks=blocks, script=bundle("stream.ts"))
    path.write_text(page, "utf-8")


def bundle(entry: str) -> str:
    """One of the scripts beside this file, with all that it imports, fit to stand in a page."""
    command = ["node", str(HERE / "bundle.mjs"), str(HERE / entry)]
    script = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return script.replace("</script", r"<\/script")


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


def rectangles_of(recording: Recording) -> dict[str, list[Any]]:
    """The attempts as `distributed.diagnostics.task_stream.rectangles` gives them, without transfers."""
    from dask.utils import format_time
    from distributed.diagnostics.progress_stream import color_of

    tasks = recording.tasks
    start, stop = tasks["start"].to_numpy(), tasks["stop"].to_numpy()
    names = tasks["prefix"].tolist()
    workers, threads = tasks["worker"].tolist(), tasks["thread"].tolist()
    on = [f"{worker}-{thread}" for worker, thread in zip(workers, threads, strict=True)]
    places = {each: place / 2 for place, each in enumerate(dict.fromkeys(on))}
    pairs = zip(names, tasks["status"].tolist(), strict=True)
    colors = [color_of(name) if status == "ok" else "black" for name, status in pairs]
    return {
        "start": ((start + stop) / 2 * 1000).tolist(),
        "duration": ((stop - start) * 1000).tolist(),
        "duration_text": [format_time(seconds) for seconds in (stop - start).tolist()],
        "key": tasks["key"].tolist(),
        "name": names,
        "color": colors,
        "alpha": [1] * len(names),
        "worker": workers,
        "worker_thread": on,
        "y": [places[each] for each in on],
    }
