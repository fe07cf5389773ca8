"""A small cluster at work on something worth looking at."""

from .stage import cluster, perform
from .steps import STEPS, Step

__all__ = ["STEPS", "Step", "cluster", "perform"]
