"""All rules, and how they are applied."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .facts import Facts
from .finding import SEVERITIES, Finding
from .found import Failed, Findings
from .gaps import CLIENT_GAP
from .rule import Rule
from .slow import STRAGGLER
from .thresholds import Limits
from .tiny import TINY_TASKS

#: In the order in which findings of equal weight are told.
RULES: tuple[Rule, ...] = (TINY_TASKS, STRAGGLER, CLIENT_GAP)


def apply(facts: Facts, limits: Limits, rules: Iterable[Rule] = RULES) -> Findings:
    """Ask every rule; what they find is graded and ranked.

    A rule that fails takes no other down: it is named in `Findings.failed`.
    """
    found: list[Finding] = []
    failed: list[Failed] = []
    for rule in rules:
        try:
            found += [graded(each, facts, limits) for each in rule.find(facts, limits)]
        except Exception as error:
            failed.append(Failed(rule.code, f"{type(error).__name__}: {error}"))
    told = [each for each in found if each.severity]
    order = sorted(range(len(told)), key=lambda row: (_weight(told[row]), row))
    return Findings([told[row] for row in order], failed=failed, seconds=facts.wall)


def graded(found: Finding, facts: Facts, limits: Limits) -> Finding:
    """With its cost kept within the run, and a severity; without any if it is not worth telling."""
    seconds = min(found.cost_seconds, facts.wall)
    found = found.but(cost_seconds=seconds, cost_thread_seconds=min(found.cost_thread_seconds, facts.offered))
    if math.isnan(seconds):
        return found if found.severity else found.but(severity="info")
    share = seconds / facts.wall if facts.wall > 0 else 0.0
    if seconds < limits["all.seconds"] or share < limits["all.share"]:
        return found.but(severity="")
    if found.severity:
        return found
    if share < limits["all.warning"]:
        return found.but(severity="info")
    return found.but(severity="warning" if share < limits["all.critical"] else "critical")


def _weight(found: Finding) -> tuple[int, float]:
    cost = found.cost_seconds if found.cost_seconds > 0 else 0.0
    return -SEVERITIES.index(found.severity), -cost
