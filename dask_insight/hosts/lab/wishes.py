"""How much history several pages want."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...session.page import count


class Wishes:
    """Keeps a page that comes from taking what another one has asked for: what is dropped is gone for good.

    A page says what its person has set when it comes, and again whenever that
    changes. Only a change makes the history shorter.
    """

    def __init__(self) -> None:
        self._said: dict[Any, int] = {}
        self._wanted = 0

    def joined(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """A page's message, as it counts beside those of others."""
        page, values = message.get("page"), message.get("values")
        if message.get("type") != "settings" or not isinstance(page, str) or not isinstance(values, Mapping):
            return message
        if not (history := count(values.get("history"))):
            return message
        before = self._said.get(page, history)
        self._said[page] = history
        self._wanted = history if history != before else max(history, self._wanted)
        return {**message, "values": {**values, "history": self._wanted}}
