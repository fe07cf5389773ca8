"""What a notebook keeps of a recording, for each kind of viewer."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import words
from ...analysis.overview import Overview, overview, short
from ..report import MissingFrontEnd, write_report
from . import table
from .frame import frame, front_end_size
from .picture import png, svg
from .raster import task_stream
from .thinner import thinned

if TYPE_CHECKING:
    from ...recording import Recording

#: The renderer in JupyterLab shows this; the data stand once, in ``text/html``.
MIME = "application/vnd.dask-insight.v1+json"
#: Dask setting: most bytes of one output, as Dask writes sizes.
LIMIT = "dask-insight.output-size"
_DEFAULT_LIMIT = "1.5 MB"
#: Room for everything that is no data.
_MARGIN = 24_000


def bundle(
    recording: Recording,
    *,
    static: bool = False,
    files: Iterable[Path] = (),
    whole: Path | None = None,
) -> dict[str, Any]:
    """The MIME bundle of a recording.

    Parameters
    ----------
    recording
        What to show.
    static
        Only a picture and a table, which every viewer shows, also one that runs no scripts.
    files
        Files that were written of it, to name.
    whole
        Where the whole report stands already; it is written to the current
        folder where the output cannot hold it.

    Returns
    -------
    dict
        MIME types with their data; its size as JSON is at most the Dask
        setting ``dask-insight.output-size``, 1.5 MB by default, as far as
        leaving out can bring it there.
    """
    summary = overview(recording)
    name = short(summary.name, 120) or "Dask computation"
    rows = table.rows(summary)
    notes = [f"Written to {path}." for path in files]
    picture = task_stream(recording)
    images: dict[str, Any] = {}
    if picture is not None:
        images["image/svg+xml"] = svg(picture, name)
        images["image/png"] = base64.b64encode(png(picture)).decode()
    if static or picture is None:
        return _static(summary, name, rows, notes) | images
    inside = f'<img alt="Task stream" src="data:image/png;base64,{images["image/png"]}">'
    budget = _limit() - front_end_size() - _MARGIN - 2 * len(inside) - len(images["image/svg+xml"])
    shown, left_out = thinned(recording, budget)
    if left_out:
        notes.append(f"To keep the notebook small this report leaves out {words.listing(left_out)}.")
        notes.append(_whole(recording, name, whole))
    try:
        report = frame(shown, name, inside)
    except MissingFrontEnd as error:
        return _static(summary, name, rows, [*notes, str(error)]) | images
    html = _html(summary, name, rows, notes)
    about = {
        "version": 1,
        "name": name,
        "verdict": summary.verdict(),
        "table": [list(row) for row in rows],
        "notes": [*notes, *_losses(summary)],
        "data": "text/html",
    }
    return {MIME: about, "text/html": html + report, "text/plain": _text(summary, name, rows, notes)} | images


def _limit() -> int:
    import dask
    from dask.utils import parse_bytes

    return int(parse_bytes(dask.config.get(LIMIT, _DEFAULT_LIMIT)))


def _static(summary: Overview, name: str, rows: Sequence[table.Row], notes: list[str]) -> dict[str, Any]:
    markdown = [f"**{table.plain(name)}**", table.plain(summary.verdict())]
    markdown += [table.as_markdown(rows)] if rows else []
    markdown += [table.plain(note) for note in [*notes, *_losses(summary)]]
    return {"text/markdown": "\n\n".join(markdown), "text/plain": _text(summary, name, rows, notes)}


def _html(summary: Overview, name: str, rows: Sequence[table.Row], notes: Iterable[str]) -> str:
    said = "".join(f'<p dir="auto">{escape(note)}</p>' for note in [*notes, *_losses(summary)])
    head = f'<p dir="auto"><b>{escape(name)}</b><br>{escape(summary.verdict())}</p>'
    return head + table.as_html(rows) + said


def _text(summary: Overview, name: str, rows: Sequence[table.Row], notes: Iterable[str]) -> str:
    parts = [name, summary.verdict(), "", *([table.as_text(rows)] if rows else [])]
    return "\n".join([*parts, *notes, *_losses(summary)])


def _losses(summary: Overview) -> list[str]:
    return [f"Lost: {short(loss, 400)}" for loss in summary.losses[:20]]


def _whole(recording: Recording, name: str, given: Path | None) -> str:
    """Where the whole report is, in words; it is written where it is not there yet."""
    if given is not None:
        return f"The whole one is {given}."
    stem = re.sub(r"[^\w-]+", "-", name).strip("-").lower()[:60] or "report"
    path = Path(f"dprofile-{stem}.html")
    try:
        write_report(recording, path)
    except OSError as error:
        return f"The whole one could not be written beside it ({error}); `.report(path)` writes it elsewhere."
    return f"The whole one is {path}."
