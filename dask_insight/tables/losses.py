"""What is known to be lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..lookup import is_any


def losses(events: Mapping[str, Any], *, on_purpose: bool = True) -> list[str]:
    """What the table `events` tells to be lost, in words, each once.

    Parameters
    ----------
    on_purpose
        With what was left out because somebody, or a bound, wants it so.
    """
    lost = is_any(events["kind"], ("lost",))
    if not on_purpose:
        lost = lost & ~is_any(events["level"], ("info",))
    texts = (events["message"][row] for row in np.flatnonzero(lost).tolist())
    return list(dict.fromkeys(filter(None, texts)))
