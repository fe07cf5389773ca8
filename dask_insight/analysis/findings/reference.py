"""Writes the reference of all findings: ``python -m dask_insight.analysis.findings.reference``."""

from __future__ import annotations

from pathlib import Path

from .rule import Rule
from .rules import RULES
from .thresholds import TABLE, Threshold

TARGET = Path(__file__).parents[3] / "docs" / "findings.md"

_HEAD = """\
# Findings

What `run.findings()` and `dask-insight findings FILE` can tell, how each is found, and what it compares
with. `dask-insight findings --rules` prints this page.

Every finding has a severity and a cost. `cost_thread_seconds` is the part of the time budget that goes to
its cause. `cost_seconds` is an estimate of the wall time that would be saved without it, never more than
the run took; how it is worked out stands with each. Findings that cost less than `all.seconds` or
`all.share` of the run are not told. Others are *info*, from `all.warning` of the run on a *warning*, from
`all.critical` on *critical*, unless the rule itself says how severe they are, as for risks that cost no
time yet. They are ranked by severity, then by cost.

The source *ours* means calibrated on the faults and the clean workloads of `tests/faults`, on a quiet and
on a busy machine. Thresholds can be changed: `run.findings({'tiny-tasks.mean': 0.02})`, or
`dask-insight findings run.dinsight --threshold tiny-tasks.mean=0.02`.
"""


def markdown() -> str:
    """The reference, as Markdown."""
    parts = [_HEAD, "## All rules", "", *_table("all"), ""]
    for rule in sorted(RULES, key=lambda each: each.code):
        parts += _section(rule)
    return "\n".join(parts)


def _section(rule: Rule) -> list[str]:
    table = _table(rule.code)
    return [
        f"## {rule.code}",
        "",
        f"{rule.says} [{'Dask on it' if '.dask.org/' in rule.url else 'More on it'}]({rule.url})",
        "",
        f"*How it is found*: {rule.formula}",
        "",
        f"*Cost*: {rule.cost}",
        "",
        f"*What helps*: {rule.advice}",
        "",
        *([*table, ""] if table else []),
    ]


def _table(code: str) -> list[str]:
    mine = [each for each in TABLE if each.name.startswith(f"{code}.")]
    if not mine:
        return []
    rows = [f"| `{each.name}` | {_value(each)} | {each.meaning} | {each.source} |" for each in mine]
    return ["| threshold | value | meaning | source |", "|---|---|---|---|", *rows]


def _value(threshold: Threshold) -> str:
    if threshold.unit == "share":
        return f"{threshold.value:g} ({100 * threshold.value:g} %)"
    return f"{threshold.value:g} {threshold.unit}".strip()


if __name__ == "__main__":
    TARGET.write_text(markdown(), encoding="utf-8")
