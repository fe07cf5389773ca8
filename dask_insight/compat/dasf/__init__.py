"""The names of DASF's profiler: events and databases, registration, and its analyses from our tables."""

from .analysis import TraceAnalyser
from .database import EventDatabase, EventProfiler, FileDatabase, MultiEventDatabase
from .events import (
    CompleteEvent,
    DurationBeginEvent,
    DurationEndEvent,
    EventPhases,
    EventTypes,
    InstantEvent,
    InstantEventScope,
    event_classes,
)
from .register import register_default_profiler

__all__ = [
    "CompleteEvent",
    "DurationBeginEvent",
    "DurationEndEvent",
    "EventDatabase",
    "EventPhases",
    "EventProfiler",
    "EventTypes",
    "FileDatabase",
    "InstantEvent",
    "InstantEventScope",
    "MultiEventDatabase",
    "TraceAnalyser",
    "event_classes",
    "register_default_profiler",
]
