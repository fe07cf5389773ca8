"""Findings as columns of the table ``findings``."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ...batch import Texts, intern
from .finding import Finding
from .found import Findings

_TEXTS = ("title", "why", "advice")
_COSTS = ("cost_thread_seconds", "cost_seconds")
_NAMES = ("code", "severity", "url")


def columns(found: Findings, zero: float) -> dict[str, Any]:
    """The columns, in rank order.

    A rule that failed is a row with the severity 'gap'. Where nothing was
    found there is one row with the code '', which tells that from a recording
    in which nobody looked. What concerns the whole run has no start and stop.

    Parameters
    ----------
    found
        The findings.
    zero
        The moment from which their seconds count, seconds since the epoch.
    """
    rows = [*found, *(_gap(each.code, each.why) for each in found.failed)] or [_gap("", "", "")]
    texts = {name: [getattr(each, name) for each in rows] for name in _TEXTS}
    lists = {
        name: [json.dumps(getattr(each, name), ensure_ascii=False) for each in rows]
        for name in ("tasks", "workers")
    }
    parts = np.array([(each.start, each.stop) != found.between for each in rows])
    return {
        **{name: intern([getattr(each, name) for each in rows]) for name in _NAMES},
        **{name: Texts.of(values) for name, values in (texts | lists).items()},
        "start": zero + np.where(parts, [each.start for each in rows], np.nan),
        "stop": zero + np.where(parts, [each.stop for each in rows], np.nan),
        **{name: np.array([getattr(each, name) for each in rows], "f8") for name in _COSTS},
        "evidence": Texts.of([_evidence(each) for each in rows]),
    }


def _gap(code: str, why: str, severity: str = "gap") -> Finding:
    return Finding(code=code, severity=severity, title="", why=why, advice="", url="")


def _evidence(found: Finding) -> str:
    facts = [
        [each.name, each.value if math.isfinite(each.value) else None, each.unit, each.threshold]
        for each in found.evidence
    ]
    return json.dumps(facts, ensure_ascii=False)
