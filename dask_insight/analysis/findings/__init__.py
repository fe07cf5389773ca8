"""What cost time or put a run at risk, ranked, with what can be done about it."""

from .columns import columns
from .facts import Facts
from .finding import Fact, Finding
from .found import Failed, Findings
from .rules import RULES, WITHOUT_TASKS, apply
from .thresholds import DEFAULTS, Limits, Threshold

__all__ = [
    "DEFAULTS",
    "RULES",
    "WITHOUT_TASKS",
    "Fact",
    "Facts",
    "Failed",
    "Finding",
    "Findings",
    "Limits",
    "Threshold",
    "apply",
    "columns",
]
