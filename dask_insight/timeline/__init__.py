"""Attempts as they happened on the threads of workers, for whoever asks where time went."""

from .attempts import Attempts, Read, attempts, concerns, is_local
from .inputs import Inputs, inputs
from .lanes import Lanes, lanes
from .moments import Moments
from .pauses import pauses
from .states import States, states

__all__ = [
    "Attempts",
    "Inputs",
    "Lanes",
    "Moments",
    "Read",
    "States",
    "attempts",
    "concerns",
    "inputs",
    "is_local",
    "lanes",
    "pauses",
    "states",
]
