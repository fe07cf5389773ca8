"""A recording as a picture and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bundle import static_bundles

if TYPE_CHECKING:
    from ...recording import Recording


class Static:
    """Shows a recording in notebooks as a picture and a table only; see `Recording.static`."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def __repr__(self) -> str:
        return str(self._recording.summary())

    def _ipython_display_(self) -> None:
        from IPython.display import publish_display_data

        for bundle in static_bundles(self._recording):
            publish_display_data(bundle)  # type: ignore[no-untyped-call]
