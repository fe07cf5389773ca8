"""How long the run would take otherwise: its graph replayed on a simulated cluster."""

from .answer import WhatIf
from .question import Replay, what_if
from .table import rows
from .usual import MOST, Question, Usual, usual

__all__ = ["MOST", "Question", "Replay", "Usual", "WhatIf", "rows", "usual", "what_if"]
