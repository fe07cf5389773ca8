"""The names of DASF's profiler: events and databases, registration, and its analyses from our tables."""

from .analysis import TraceAnalyser
from .database import EventProfiler, FileDatabase, MultiEventDatabase
from .events import (
    CompleteEvent,
    DurationBeginEvent,
    DurationEndEvent,
    EventPhases,
    InstantEvent,
    InstantEventScope,
)
from .register import register_default_profiler

__all__ = [
    "CompleteEvent",
    "DurationBeginEvent",
    "DurationEndEvent",
    "EventPhases",
    "EventProfiler",
    "FileDatabase",
    "InstantEvent",
    "InstantEventScope",
    "MultiEventDatabase",
    "TraceAnalyser",
    "register_default_profiler",
]
