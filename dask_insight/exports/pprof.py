"""pprof's profile.proto, as `go tool pprof` and others read it.

https://github.com/google/pprof/blob/main/proto/profile.proto

Few fields of few messages: they are written here rather than by a library.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..tables.facts import part_of_run, recorded
from .files import replaced
from .progress import Steps, Told, silent
from .stacks import Stacks

if TYPE_CHECKING:
    from ..recording import Recording


def write(recording: Recording, path: Path, told: Told = silent) -> None:
    """Write the profile: wall time by stack, with labels process, thread and task."""
    # pprof files are compressed whatever they are called.
    with replaced(path, packed=True) as file:
        for part in _profile(recording, told):
            file.write(part)


def _profile(recording: Recording, told: Told) -> Iterator[bytes]:
    stacks = Stacks(recording)
    texts: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    kind = _number(1, text("wall")) + _number(2, text("nanoseconds"))
    yield _message(1, kind)
    functions: dict[tuple[str, str, int], int] = {}
    for number, frame in enumerate(stacks.frames, 1):
        function = functions.setdefault((frame.function, frame.file, frame.first_line), len(functions) + 1)
        line = _number(1, function) + _number(2, frame.line)
        yield _message(4, _number(1, number) + _message(4, line))
    steps = Steps(told, len(stacks))
    labels = [text(name) for name in ("process", "thread", "task")]
    for each in stacks.weights:
        # The innermost frame comes first.
        sample = _packed(1, [frame + 1 for frame in reversed(each.stack)])
        sample += _packed(2, [round(each.seconds * 1e9)])
        for label, value in zip(labels, (each.process, each.thread, each.prefix), strict=True):
            if value:
                sample += _message(3, _number(1, label) + _number(2, text(value)))
        yield _message(2, sample)
        steps.add(1)
    for (name, file, first), number in functions.items():
        known = text(name)
        function_told = _number(1, number) + _number(2, known) + _number(3, known)
        yield _message(5, function_told + _number(4, text(file)) + _number(5, first))
    started = max(recording.started, part_of_run(recording.columns)[0])
    took = recorded(recording.columns)[1] - started
    # The texts come when all that name one have been written; their order is that of their numbers.
    yield from (_message(6, value.encode("utf-8", "replace")) for value in texts)
    yield _number(9, _nanos(started)) + _number(10, _nanos(took))
    yield _message(11, kind) + _number(12, 10_000_000)


def _nanos(seconds: float) -> int:
    """Nanoseconds; 0 for what profile.proto has no number for, as it has for what is not known."""
    return round(seconds * 1e9) if 0 <= seconds < 2**63 / 1e9 else 0


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value) if value else b""


def _message(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _packed(field: int, values: list[int]) -> bytes:
    return _message(field, b"".join(map(_varint, values)))
