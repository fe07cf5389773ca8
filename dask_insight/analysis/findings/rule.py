"""What a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .facts import Facts
from .finding import Finding
from .thresholds import Limits


class Rule(NamedTuple):
    """One kind of finding.

    A rule says what it saw and what that cost; whether that is worth telling
    and how severe it is follows from the cost, unless the rule says it itself.
    """

    #: The code of its findings.
    code: str
    #: What it tells, in a sentence.
    says: str
    #: How it is found, and how its cost is worked out; for the documentation.
    formula: str
    cost: str
    #: Dask's own page on it.
    url: str
    find: Callable[[Facts, Limits], Iterable[Finding]]
    #: What helps, in a sentence; each finding has it in full.
    advice: str = ""
