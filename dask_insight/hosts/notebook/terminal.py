"""Whether outputs are read as text only."""

from __future__ import annotations

import sys
from typing import Any


def only_text() -> bool:
    """True in a terminal's IPython, which asks for all forms of an output and shows its text."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    types = getattr(getattr(shell, "display_formatter", None), "active_types", ["text/html"])
    return "text/html" not in types
