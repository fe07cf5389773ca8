"""The pages that are measured: our report, our task stream alone, and the same rectangles in Bokeh."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np

from dask_insight.recording import Recording

from ..synthetic import Size, synthetic

HERE = Path(__file__).parent
LANES = 64
NAMES = 40

_STREAM = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Task stream</title><style>{style}</style></head>
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
    style = "".join((HERE.parent.parent / "src-ts/panels" / name).read_text() for name in ("panels.css", "mount.css"))
    path.write_text(_STREAM.format(style=style, blocks=blocks, script=script), "utf-8")


def bundle(entry: str) -> str:
    """One of the scripts beside this file, with all that it imports."""
    command = ["node", str(HERE / "bundle.mjs"), str(HERE / entry)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def bokeh_page(recording: Recording, path: Path) -> None:
    """The attempts as rectangles on a canvas, the script of Bokeh inside; no hover, no outlines, to its favour."""
    from bokeh.embed import file_html
    from bokeh.models import ColumnDataSource
    from bokeh.palettes import Category20_20
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    columns = recording.columns("attempts")
    start, stop = np.asarray(columns["start"]), np.asarray(columns["stop"])
    origin = start.min()
    names = recording.columns("graph")["prefix"]
    palette = np.array(Category20_20)
    task = np.asarray(columns["task"])
    source = ColumnDataSource(
        {
            "x": (start + stop) / 2 - origin,
            "width": stop - start,
            "y": columns["thread"].codes.astype("f8"),
            "color": palette[names.codes[task] % len(palette)],
        }
    )
    plot = figure(
        width=1600,
        height=800,
        tools="xpan,xwheel_zoom,reset",
        active_scroll="xwheel_zoom",
        output_backend="canvas",
        x_range=(0, float(stop.max() - origin)),
        y_range=(-1, LANES),
        title="Task stream",
    )
    plot.rect("x", "y", "width", 0.8, source=source, fill_color="color", line_color=None)
    path.write_text(file_html(plot, INLINE, title="Task stream"), "utf-8")
