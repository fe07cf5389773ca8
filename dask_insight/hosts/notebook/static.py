"""A recording as a picture and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .bundle import bundle

if TYPE_CHECKING:
    from ...recording import Recording


class Static:
    """Shows a recording in notebooks as a picture and a table only; see `Recording.static`."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __repr__(self) -> str:
        return str(self._recording.summary())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self._recording, static=True)
