"""Events of the Chrome Trace Event Format, as DASF has them. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class EventPhases:
    """What kind of event it is."""

    COMPLETE = "X"
    DURATION_BEGIN = "B"
    DURATION_END = "E"
    INSTANT = "I"
    ASYNC_BEGIN = "b"
    ASYNC_INSTANT = "n"
    ASYNC_END = "e"
    FLOW_BEGIN = "s"
    FLOW_STEP = "t"
    FLOW_END = "f"
    COUNTER = "C"
    OBJECT_CREATED = "N"
    OBJECT_SNAPSHOT = "O"
    OBJECT_DESTROYED = "D"
    METADATA = "M"
    MARK = "R"


class InstantEventScope:
    """How far an instant event reaches."""

    GLOBAL = "g"
    PROCESS = "p"
    THREAD = "t"


@dataclass
class InstantEvent:
    """Something that happened at `timestamp`."""

    name: str
    timestamp: float
    phase: str = EventPhases.INSTANT
    scope: str = InstantEventScope.GLOBAL
    process_id: Any = 0
    thread_id: Any = 0
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class CompleteEvent:
    """Something that lasted `duration`. What DASF calls "Compute" *ended* at `timestamp`."""

    name: str
    timestamp: float
    duration: float
    phase: str = EventPhases.COMPLETE
    process_id: Any = 0
    thread_id: Any = 0
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class DurationBeginEvent:
    """Something began at `timestamp`."""

    name: str
    timestamp: float
    phase: str = EventPhases.DURATION_BEGIN
    process_id: Any = 0
    thread_id: Any = 0
    args: dict[str, Any] = field(default_factory=dict)


@dataclass
class DurationEndEvent:
    """What began before ended at `timestamp`. DASF gives it the phase of a beginning by mistake."""

    name: str
    timestamp: float
    phase: str = EventPhases.DURATION_END
    process_id: Any = 0
    thread_id: Any = 0
    args: dict[str, Any] = field(default_factory=dict)


Event = InstantEvent | CompleteEvent | DurationBeginEvent | DurationEndEvent

#: DASF's name for the same.
EventTypes = Event

#: Class of the events of each phase.
event_classes: dict[str, type[Event]] = {
    EventPhases.INSTANT: InstantEvent,
    EventPhases.COMPLETE: CompleteEvent,
    EventPhases.DURATION_BEGIN: DurationBeginEvent,
    EventPhases.DURATION_END: DurationEndEvent,
}


def event_of(told: Mapping[str, Any]) -> Event:
    """The event that a record of a database is; one of an unknown phase is an instant of that phase."""
    kind = event_classes.get(told["phase"], InstantEvent)
    known = kind.__dataclass_fields__
    return kind(**{name: value for name, value in told.items() if name in known})
