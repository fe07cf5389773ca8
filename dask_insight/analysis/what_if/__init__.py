"""How long the run would take otherwise: its graph replayed on a simulated cluster."""

from .answer import WhatIf
from .question import Replay, what_if

__all__ = ["Replay", "WhatIf", "what_if"]
