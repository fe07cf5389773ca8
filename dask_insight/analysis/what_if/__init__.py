"""How long the run would take otherwise: its graph replayed on a simulated cluster."""

from .answer import WhatIf
from .question import what_if

__all__ = ["WhatIf", "what_if"]
