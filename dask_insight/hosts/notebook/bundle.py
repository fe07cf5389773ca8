"""What a notebook keeps of a recording, for each kind of viewer."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterable
from html import escape
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import words
from ...analysis.overview import Overview
from ...legible import harmless
from ...options import OUTPUT_SIZE
from ...words import short
from ..comparison import folded
from ..plain import marked, plain
from ..report import MissingFrontEnd
from . import table
from .aside import write_aside
from .frame import frame, front_end_size
from .pdf import pdf
from .picture import png, svg
from .raster import Picture, task_stream
from .terminal import only_text
from .thinner import thinned

if TYPE_CHECKING:
    from ...analysis.compare import Comparison
    from ...recording import Recording

#: The renderer in JupyterLab shows this; the data stand once, in ``text/html``.
MIME = "application/vnd.dask-insight.v1+json"
_DEFAULT_LIMIT = "1.5 MB"
#: Infinity, as environment variables have it.
_ENDLESS = ("inf", "infinity")
#: Code that tells all findings of a recording.
_ALL_FINDINGS = "run.findings()"
#: Room for everything that is no data.
_MARGIN = 24_000


def bundle(
    recording: Recording,
    *,
    notes: Iterable[str] = (),
    whole: Path | None = None,
    aside: Path | None = None,
    comparison: Comparison | None = None,
    all_findings: str = _ALL_FINDINGS,
) -> dict[str, Any]:
    """The MIME bundle of a recording.

    Parameters
    ----------
    recording
        What to show.
    notes
        Sentences to follow the table.
    whole
        Where the whole report stands already.
    aside
        The folder to write it to, into a new file, where it stands nowhere and the output cannot hold it.
    comparison
        What it was compared with, to say too; its rows are in the recording.
    all_findings
        Code that tells all findings, for where the report does not stand beside the text.

    Returns
    -------
    dict
        MIME types with their data; its size as JSON is at most the Dask
        setting ``dask-insight.output-size``, 1.5 MB by default, as far as
        leaving out can bring it there; infinity is no limit, and of what is
        no size a note tells. In a terminal only the text.
    """
    said = _Said(recording, notes, comparison, all_findings)
    if only_text():
        return {"text/plain": said.text()}
    picture = task_stream(recording)
    if picture is None and not said.has_tasks:
        return {"text/html": said.html(), "text/plain": said.text()}
    images = {} if picture is None else _images(picture, said.name)
    image = images.get("image/png")
    inside = f'<img alt="Task stream" src="data:image/png;base64,{image}">' if image else ""
    try:
        limit, trouble = _limit()
        said.notes += filter(None, [trouble])
        budget = limit - front_end_size() - _MARGIN - len(inside) - sum(map(len, images.values()))
        shown, left_out = thinned(recording, budget)
        report = frame(shown, said.name, inside)
        # It shows them.
        said.all_findings = ""
        if left_out:
            said.notes.append(f"To keep the notebook small this report leaves out {words.listing(left_out)}.")
            said.notes.append(_whole(recording, said.name, whole, aside))
    except MissingFrontEnd as error:
        said.notes.append(str(error))
        return {"text/html": said.html(), "text/plain": said.text()} | images
    return {MIME: said.about(), "text/html": said.html() + report, "text/plain": said.text()} | images


def static_bundles(
    recording: Recording,
    *,
    notes: Iterable[str] = (),
    comparison: Comparison | None = None,
    all_findings: str = _ALL_FINDINGS,
) -> list[dict[str, Any]]:
    """The MIME bundles of a picture and a table, for viewers that run no scripts.

    They are two outputs since most viewers show one form of an output, and
    Markdown before a picture.
    """
    said = _Said(recording, notes, comparison, all_findings)
    table_only = {"text/markdown": said.markdown(), "text/plain": said.text()}
    if (picture := task_stream(recording)) is None:
        return [table_only]
    return [_images(picture, said.name) | {"text/plain": harmless(f"Task stream · {said.name}")}, table_only]


class _Said:
    """What is said of a recording in words, in each form that viewers show."""

    def __init__(
        self,
        recording: Recording,
        notes: Iterable[str],
        comparison: Comparison | None,
        all_findings: str,
    ) -> None:
        self._comparison = comparison
        self._summary: Overview = recording.summary()
        self.name = short(self._summary.name, 120) or "Dask computation"
        self._rows = table.rows(self._summary)
        #: Code that tells all findings; '' where they are shown anyway.
        self.all_findings = all_findings
        #: Sentences that follow the table.
        self.notes = list(notes)
        self.notes += [f"Lost: {loss}" for loss in self._summary.lost()]

    @property
    def has_tasks(self) -> bool:
        return self._summary.has_tasks

    def _advised(self) -> list[str]:
        return self._summary.advised(whole=self.all_findings)

    def about(self) -> dict[str, Any]:
        """What the renderer in JupyterLab shows beside the panels."""
        return {
            "version": 1,
            "name": self.name,
            "verdict": self._summary.verdict(),
            "table": [list(row) for row in self._rows],
            "notes": [*([self._comparison.verdict()] if self._comparison else []), *self.notes],
            "data": "text/html",
        }

    def html(self) -> str:
        head = f"<p><bdi><b>{escape(self.name)}</b></bdi><br>{words.marked(self._summary.verdict())}</p>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        compared = folded(self._comparison) if self._comparison else ""
        found = "".join(f"<li>{words.marked(line)}</li>" for line in self._advised())
        told = f"<ul>{found}</ul>" if found else ""
        return head + told + table.as_html(self._rows) + notes + compared

    def markdown(self) -> str:
        parts = [f"**{plain(self.name)}**", marked(self._summary.verdict())]
        found = self._advised()
        parts += ["\n".join(f"- {marked(line)}" for line in found)] if found else []
        parts += [table.as_markdown(self._rows)] if self._rows else []
        parts += map(plain, self.notes)
        return "\n\n".join([*parts, *([self._comparison.to_markdown()] if self._comparison else [])])

    def text(self) -> str:
        parts = [self.name, self._summary.verdict(), *self._advised(), ""]
        parts += [*([table.as_text(self._rows)] if self._rows else []), *self.notes]
        return harmless("\n".join([*parts, *(["", str(self._comparison)] if self._comparison else [])]))


def _images(picture: Picture, name: str) -> dict[str, str]:
    drawn = svg(picture, name)
    others = {"image/png": png(picture), "application/pdf": pdf(drawn)}
    return {"image/svg+xml": drawn} | {
        kind: base64.b64encode(image).decode() for kind, image in others.items()
    }


def _limit() -> tuple[int, str]:
    """Most bytes that an output keeps, and what is wrong with the setting, in words, '' if nothing."""
    import dask
    from dask.utils import parse_bytes

    given = dask.config.get(OUTPUT_SIZE, None)
    try:
        if given == inf or (isinstance(given, str) and given.strip().lower() in _ENDLESS):
            return sys.maxsize, ""
        found = parse_bytes(_DEFAULT_LIMIT if given is None else given)
        # Dask takes an empty text for one byte, and what is true too.
        if found < 0 or isinstance(given, bool) or (isinstance(given, str) and not given.strip()):
            raise ValueError(given)
        return found, ""
    except (AttributeError, TypeError, ValueError, OverflowError):
        trouble = (
            f"Dask's setting `{OUTPUT_SIZE}` is {short(repr(given), 60)}, which is no size: {_DEFAULT_LIMIT} "
            "is kept to here. Write it like '5 MB'."
        )
        return parse_bytes(_DEFAULT_LIMIT), trouble


def _whole(recording: Recording, name: str, given: Path | None, aside: Path | None) -> str:
    """Where the whole report is, in words; it may be written for that."""
    if given is not None:
        return f"The whole one is {given}."
    if aside is None:
        return "`.report(path)` writes the whole one."
    try:
        return f"The whole one is {write_aside(recording, name, aside)}."
    except OSError as error:
        return f"The whole one could not be written beside it ({error}); `.report(path)` writes it elsewhere."
