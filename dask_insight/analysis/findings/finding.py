"""What a finding is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape
from typing import Any, NamedTuple

from ... import words
from ...legible import printed

#: From what matters least to what matters most.
SEVERITIES = ("info", "warning", "critical")


class Fact(NamedTuple):
    """A measured figure that a finding rests on."""

    name: str
    value: float
    #: s, bytes, bytes/s, count, share (0 to 1), % or ''.
    unit: str = ""
    #: What it was compared with; None if with nothing.
    threshold: float | None = None

    def __str__(self) -> str:
        said = f"{self.name}: {amount(self.value, self.unit)}"
        if self.threshold is not None:
            said += f" (threshold {amount(self.threshold, self.unit)})"
        return said


@dataclass(frozen=True)
class Finding:
    """Something that cost time or puts the run at risk, with what can be done about it.

    Attributes
    ----------
    code
        What it is; stable, see ``dask-insight findings --rules``.
    severity
        ``'info'``, ``'warning'`` or ``'critical'``; while a rule leaves it ``''``, its cost decides.
    title
        One line that names what was found, with its most telling figure.
    tasks, workers
        Task names and workers that it concerns, most concerned first.
    start, stop
        When, in seconds since the recording's start. A rule may leave them NaN: it concerns the whole run.
    cost_thread_seconds
        Thread-seconds that it took, a part of the time budget.
    cost_seconds
        Seconds of wall time that the run would be shorter by; 0 where it costs no time.
    is_told
        Told whatever it costs, and ranked by that.
    is_risk
        Told whatever it costs, and ranked as if it cost more: what it puts at risk is worth that.
    evidence
        The figures behind it.
    why, advice
        Plain text: paragraphs parted by a blank line; one whose lines all begin with four spaces is code.
    url
        Dask's own page on it.
    """

    code: str
    title: str
    why: str
    advice: str
    url: str
    tasks: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    start: float = math.nan
    stop: float = math.nan
    cost_thread_seconds: float = math.nan
    cost_seconds: float = math.nan
    evidence: tuple[Fact, ...] = ()
    severity: str = ""
    is_told: bool = False
    is_risk: bool = False

    @property
    def cost(self) -> str:
        """What it costs, in words; '' if no time."""
        return f"costs about {words.duration(self.cost_seconds)}" if self.cost_seconds > 0 else ""

    def but(self, **changes: Any) -> Finding:
        """The same with some attributes changed."""
        return replace(self, **changes)

    def __str__(self) -> str:
        heading = " · ".join(part for part in (f"{self.severity} {self.code}".strip(), self.cost) if part)
        facts = "\n".join(f"  {fact}" for fact in self.evidence)
        parts = (self.title, heading, "", self.why, facts, "", self.advice, self.url)
        return printed("\n".join(part for part in parts if part))

    def __repr__(self) -> str:
        return printed(f"<Finding {self.code} ({self.severity or 'not graded'}): {self.title}>")

    def _repr_html_(self) -> str:
        return f"<div>{self.html()}</div>"

    def html(self) -> str:
        """As HTML that needs neither scripts nor styles."""
        heading = " · ".join(part for part in (self.severity, self.code, self.cost) if part)
        facts = "".join(f"<li>{escape(str(fact))}</li>" for fact in self.evidence)
        link = f'<p><a href="{escape(self.url)}">{escape(self.url)}</a></p>' if self.url else ""
        why, advice = ("".join(map(_paragraph, paragraphs(text))) for text in (self.why, self.advice))
        evidence = f"<ul>{facts}</ul>" if facts else ""
        return f"<p><b>{words.marked(self.title)}</b><br>{escape(heading)}</p>{why}{evidence}{advice}{link}"


def amount(value: float, unit: str) -> str:
    """A figure with its unit, as people read it."""
    if unit == "s":
        return words.duration(value)
    if unit in ("bytes", "bytes/s"):
        return words.size(value) + ("/s" if unit == "bytes/s" else "")
    if unit == "share":
        return words.share(value)
    if not math.isfinite(value):
        return words.DASH
    plain = f"{value:,.0f}" if value == round(value) else words.about(value, digits=3)
    return plain if unit in ("", "count") else f"{plain}{words.SPACE}{unit}"


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text."""
    return [part for part in text.split("\n\n") if part.strip()]


def is_code(paragraph: str) -> bool:
    """Whether a paragraph is code."""
    return all(line.startswith("    ") for line in paragraph.splitlines() if line)


def _paragraph(text: str) -> str:
    if is_code(text):
        code = "\n".join(line[4:] for line in text.splitlines())
        return f"<pre>{escape(code)}</pre>"
    return f"<p>{words.marked(text)}</p>"
