"""Attempts as they happened on the threads of workers, for whoever asks where time went."""

from .ascending import Ascending, Numbers
from .attempts import Attempts, Read, attempts, concerns, is_local, is_pooled, pool_of, tells_when_asked
from .clusters import LOCAL, UNNAMED, beside, by_cluster, cluster_of, one_cluster, schedulers_mixed
from .fields import Fields, Moment, Number
from .gpus import Gpus, gpus
from .held import held_until, stays, tells_releases, used_until
from .inputs import Inputs, inputs
from .lanes import Lanes, lanes
from .lives import Lives, lives
from .micros import BLOCK, Kept, Micros, own_seconds, seconds
from .moments import Moments, most_at_once
from .nested import submitted_by_others, submitted_by_tasks
from .pauses import pauses
from .process_memory import ProcessMemory, process_memory
from .program import program_at
from .sizing import sizers_of, sizing, sizing_of
from .standstills import HEADS, standstills
from .states import States, states
from .stretches import Stretches, stretches
from .tracks import seen_threads, tracks
from .unused import unused_lanes
from .used import Used, used, whole_cores
from .waiting import Waiting, seen_in, waiting
from .whereabouts import CallStacks, Whereabouts
from .whole_run import WholeRun, attempts_in_part, is_cancelled, needed_attempts, unended_attempts
from .worker_resources import WAITS, beside_idle, worker_resources

__all__ = [
    "BLOCK",
    "HEADS",
    "LOCAL",
    "UNNAMED",
    "WAITS",
    "Ascending",
    "Attempts",
    "CallStacks",
    "Fields",
    "Gpus",
    "Inputs",
    "Kept",
    "Lanes",
    "Lives",
    "Micros",
    "Moment",
    "Moments",
    "Number",
    "Numbers",
    "ProcessMemory",
    "Read",
    "States",
    "Stretches",
    "Used",
    "Waiting",
    "Whereabouts",
    "WholeRun",
    "attempts",
    "attempts_in_part",
    "beside",
    "beside_idle",
    "by_cluster",
    "cluster_of",
    "concerns",
    "gpus",
    "held_until",
    "inputs",
    "is_cancelled",
    "is_local",
    "is_pooled",
    "lanes",
    "lives",
    "most_at_once",
    "needed_attempts",
    "one_cluster",
    "own_seconds",
    "pauses",
    "pool_of",
    "process_memory",
    "program_at",
    "schedulers_mixed",
    "seconds",
    "seen_in",
    "seen_threads",
    "sizers_of",
    "sizing",
    "sizing_of",
    "standstills",
    "states",
    "stays",
    "stretches",
    "submitted_by_others",
    "submitted_by_tasks",
    "tells_releases",
    "tells_when_asked",
    "tracks",
    "unended_attempts",
    "unused_lanes",
    "used",
    "used_until",
    "waiting",
    "whole_cores",
    "worker_resources",
]
