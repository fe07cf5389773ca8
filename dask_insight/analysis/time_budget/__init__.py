"""Where the time of all threads went, without remainder."""

from .budget import Budget, budget
from .parts import PARTS
from .rows import rows
from .sums import time_budget

__all__ = ["PARTS", "Budget", "budget", "rows", "time_budget"]
