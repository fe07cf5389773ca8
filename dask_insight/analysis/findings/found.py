"""The findings of a recording, in the order of what they cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, overload

import numpy as np

from ... import words
from ...batch import Texts
from ...legible import printed
from .finding import SEVERITIES, Finding

if TYPE_CHECKING:
    import pandas as pd


_TEXTS = ("code", "severity", "title", "why", "advice", "url")
_NUMBERS = ("start", "stop", "cost_thread_seconds", "cost_seconds")
_NAMES = (
    *("code", "severity", "title", "tasks", "workers", "start", "stop"),
    *("cost_thread_seconds", "cost_seconds", "evidence", "why", "advice", "url"),
)


class Failed(NamedTuple):
    """A rule that could not be worked out."""

    code: str
    why: str


class Findings(list[Finding]):
    """Findings, most important first; a list that prints well.

    Parameters
    ----------
    nothing
        What is said where there are none although tasks ran.

    Attributes
    ----------
    failed
        Rules that could not be worked out, with why.
    seconds
        Length of the run that was looked at, seconds.
    between
        From when to when that was, seconds since the recording's start.
    judged
        Whether any task ran then; else that there are no findings tells nothing.
    """

    def __init__(
        self,
        found: Iterable[Finding] = (),
        *,
        failed: Iterable[Failed] = (),
        seconds: float = 0.0,
        between: tuple[float, float] = (0.0, 0.0),
        judged: bool = True,
        nothing: str = "Nothing was found that costs time or puts the run at risk.",
    ) -> None:
        super().__init__(found)
        self.failed = tuple(failed)
        self.seconds = seconds
        self.between = between
        self.judged = judged
        self._nothing = nothing

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Finding: ...
    @overload
    def __getitem__(self, at: slice, /) -> Findings: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> Finding | Findings:
        if not isinstance(at, slice):
            return super().__getitem__(at)
        return self._with(super().__getitem__(at), "among these")

    def copy(self) -> Findings:
        """The same findings in a list of their own."""
        return self._with(self)

    def _with(self, kept: Iterable[Finding], that: str = "") -> Findings:
        """Some of them, of the same run; where none is, `that` ends the sentence which says so."""
        several = f"None of {words.count(len(self), 'finding')} is"
        none = "The only finding is not" if len(self) == 1 else several
        return Findings(
            kept,
            failed=self.failed,
            seconds=self.seconds,
            between=self.between,
            judged=self.judged,
            nothing=f"{none} {that}." if self else self._nothing,
        )

    @property
    def empty(self) -> str:
        """What can be said where there are none."""
        if not self.judged:
            return "No task ran, so there is nothing to judge."
        return self._nothing

    @property
    def worst(self) -> str:
        """The highest severity; '' if there are no findings."""
        return max((each.severity for each in self), key=SEVERITIES.index, default="")

    def at_least(self, severity: str) -> Findings:
        """Those of a severity or a higher one.

        Raises
        ------
        ValueError
            If there is no such severity.
        """
        if severity not in SEVERITIES:
            raise ValueError(f"severity={severity!r} is none of {', '.join(SEVERITIES)}")
        least = SEVERITIES.index(severity)
        that = f"{severity}{' or worse' if severity != SEVERITIES[-1] else ''}"
        return self._with((each for each in self if SEVERITIES.index(each.severity) >= least), that)

    def verdict(self) -> str:
        """How many there are, in a sentence."""
        if not self:
            return self.empty
        counts = {name: sum(each.severity == name for each in self) for name in reversed(SEVERITIES)}
        said = [
            words.count(number, name, "warnings" if name == "warning" else name)
            for name, number in counts.items()
            if number
        ]
        return f"{words.listing(said)}."

    def lines(self, most: int = 5) -> list[str]:
        """One line for each of the first ones: severity, title and cost."""
        return [
            f"{each.severity}: {each.title}" + (f" ({each.cost})" if each.cost else "")
            for each in self[:most]
        ]

    def frame(self) -> pd.DataFrame:
        """As a DataFrame, a row a finding; see `describe('findings')`, here with lists.

        ``start`` and ``stop`` of what concerns the whole run are those of the run.
        Those of ``evidence`` have a dictionary for each figure: ``name``, ``value``, ``unit``, ``threshold``.
        """
        import pandas as pd

        from ...tables.frame import text_column

        rows = self.to_dicts()
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in _NAMES}
        texts = {name: text_column(Texts.of(columns[name]), None) for name in _TEXTS}
        numbers = {name: np.array(columns[name], "f8") for name in _NUMBERS}
        # pandas takes an empty list for numbers.
        lists = {name: pd.Series(columns[name], dtype=object) for name in ("tasks", "workers", "evidence")}
        return pd.DataFrame(columns | texts | numbers | lists)

    def to_dicts(self) -> list[dict[str, Any]]:
        """As plain values, for JSON: what is not known is None."""
        return [{name: _plain(getattr(each, name)) for name in _NAMES} for each in self]

    def to_json(self) -> str:
        """As one JSON object.

        It has ``findings``, ``failed`` (rules with why), ``seconds`` of the run and ``judged``, whether any
        task ran.
        """
        told = {
            "seconds": _plain(self.seconds),
            "judged": self.judged,
            "findings": self.to_dicts(),
            "failed": [each._asdict() for each in self.failed],
        }
        return json.dumps(told, ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        texts = [f"{number}. {each}" for number, each in enumerate(self, 1)]
        lost = [f"The rule {each.code} could not be worked out: {each.why}" for each in self.failed]
        return printed("\n\n".join([self.verdict(), *texts, *lost]))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{each.html()}</li>" for each in self)
        lost = "".join(
            f"<p>The rule {escape(each.code)} could not be worked out: {escape(each.why)}</p>"
            for each in self.failed
        )
        return f"<p>{escape(self.verdict())}</p>{f'<ol>{items}</ol>' if items else ''}{lost}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple):
        if hasattr(value, "_asdict"):
            return {name: _plain(each) for name, each in value._asdict().items()}
        return [_plain(each) for each in value]
    return value
