"""The recording file: a header, then frames of compressed batches, append-only.

::

    header   8 bytes magic, u16 major, u16 minor, u32 zero
    frame    4 bytes marker, u32 size, u32 batches, u32 checksum, payload of `size` bytes
    payload  u32 length of each batch, then zlib over the batches, one after the other

All integers are little-endian. Batches are those of `batch`. The checksum is
CRC-32 of size, number of batches and payload. A reader that meets something
else looks for the next frame that holds, and tells what it skipped. Nothing
but bytes and numbers is ever built from a file.
"""

from .layout import MAGIC, Gap, RecordingError
from .lock import claim
from .place import beside, current_folder, holds_recording, place_of, replacing, take_place
from .reader import newer, read
from .writer import Writer, create, save

__all__ = [
    "MAGIC",
    "Gap",
    "RecordingError",
    "Writer",
    "beside",
    "claim",
    "create",
    "current_folder",
    "holds_recording",
    "newer",
    "place_of",
    "read",
    "replacing",
    "save",
    "take_place",
]
