"""Facts about a recording as a whole, out of its table ``about``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def facts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Each fact by its name, the last one told; what is no JSON stays text."""
    found: dict[str, Any] = {}
    for name, text in zip(about["name"].tolist(), about["value"].tolist(), strict=True):
        try:
            found[name] = json.loads(text)
        except ValueError:
            found[name] = text
    return found
