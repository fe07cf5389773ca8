"""What programs read of a command: one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def as_json(told: Mapping[str, Any]) -> str:
    """An object as JSON, with null for what is not known."""
    return json.dumps(_plain(told), indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
