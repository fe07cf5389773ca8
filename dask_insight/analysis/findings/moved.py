"""Threads that waited for data to come from other workers, and workers from which it came slowly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ... import words
from ...batch import Symbols
from ...lookup import Lookup, ratio
from ...tables.stacks import below
from ...timeline import Moments
from .facts import Facts, is_any
from .finding import Fact, Finding
from .imports_on_loop import sampled
from .late import blocked
from .names import carried_by, own_workers, quoted, split
from .rule import Rule
from .sizes import fetching
from .thresholds import Limits

#: Pairs of workers looked at, those with most bytes.
_PAIRS = 200
#: Least number of results in messages of few bytes that are told to be slow.
_COUNT = 4
#: Delay of an event loop, seconds, that is no time of the line's.
_LATE = 0.05
#: Where results are packed and unpacked, and the share of the time in which that is to blame.
_PACKS, _MOSTLY = re.compile(r"[\\/]distributed[\\/]protocol[\\/]"), 0.5


class _Came(NamedTuple):
    """Messages with data that workers received: the workers by name."""

    transfer: np.ndarray
    #: Results in each.
    results: np.ndarray
    nbytes: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    receiver: Symbols
    sender: Symbols


def _transfer_bound(facts: Facts, limits: Limits) -> Iterator[Finding]:
    if facts.spent("data") < limits["transfer-bound.share"] * facts.offered:
        return
    waiting = facts.pieces("data")
    # What a slow line costs is told of that line.
    spent = facts.spent("data") - sum(each.cost_thread_seconds for each in _slow_transfer(facts, limits))
    # And what goes to where a whole result is put together for the client, of that.
    spent -= _for_client(facts, limits)
    share = spent / facts.offered if facts.offered > 0 else 0.0
    came = _came(facts, 0.0)
    moved = float(came.nbytes.sum())
    if share < limits["transfer-bound.share"] or moved < limits["transfer-bound.bytes"]:
        return
    makers = _makers(facts, came)
    users = _users(facts)
    produced = float(np.nan_to_num(facts.attempts.at("nbytes", facts.good)).sum())
    rate = moved / max(Moments.of(came.start, came.stop).seconds, 1e-9)
    first, last = min(each.start.min() for each in waiting), max(each.stop.max() for each in waiting)
    yield Finding(
        code="transfer-bound",
        severity="critical" if share >= limits["transfer-bound.critical"] else "warning",
        title=(
            f"{words.share(share)} of the thread time went into waiting for {words.size(moved)} of data from "
            f"other workers, mostly of {quoted(makers[:1])} for {quoted(users, 1)}"
        ),
        tasks=tuple(dict.fromkeys((*makers[:5], *users[:5]))),
        workers=facts.worst(facts.by_worker(waiting), facts.lanes.workers),
        start=facts.since(first),
        stop=facts.since(last),
        cost_thread_seconds=spent,
        cost_seconds=facts.spread_pieces(waiting) * spent / facts.spent("data"),
        evidence=(
            Fact("idle threads waiting for data", share, "share", limits["transfer-bound.share"]),
            Fact("data moved", moved, "bytes", limits["transfer-bound.bytes"]),
            Fact("moved, of the bytes of all results", moved / (produced or np.nan), "share"),
            Fact("moved a second, meanwhile", rate, "bytes/s"),
        ),
        why=(
            "The threads had nothing to run while inputs were on their way. Tasks ran elsewhere than their "
            "inputs were made: pinned by `workers=` or resources, moved to idle workers, or needing parts "
            "from everywhere, as in a transpose, a join or a rechunk."
        ),
        advice=(
            "Let tasks run where their data are (no `workers=`), reduce before data move, and move whole "
            "arrays and tables at once, peer to peer:\n\n"
            "    dask.config.set({'array.rechunk.method': 'p2p', 'dataframe.shuffle.method': 'p2p'})\n"
            "    x = da.coarsen(np.mean, x, {0: 10})         # before a transpose or a rechunk\n"
            "    df = df[df.year == 2024][['key', 'value']]  # before a join"
        ),
        url=TRANSFER_BOUND.url,
    )


def _for_client(facts: Facts, limits: Limits) -> float:
    """Thread-seconds that waited for the parts of results that are told to be large for the client."""
    known = facts.attempts
    mine = facts.for_client[facts.prefix.codes]
    rows = np.flatnonzero(mine & known.ran & (known.inputs > known.received))
    if not len(rows) or not len(fetching(facts, limits).start):
        return 0.0
    return facts.within(
        facts.pieces("data"), Moments.of(known.at("received", rows), known.at("inputs", rows))
    )


def _slow_transfer(facts: Facts, limits: Limits) -> Iterator[Finding]:
    slow = _slow_pairs(facts, limits)
    if not slow:
        return
    came = _large(facts, limits)
    moments = Moments.of(
        *(np.concatenate([getattr(pair.moments, end) for pair in slow]) for end in ("start", "stop"))
    )
    waiting = facts.pieces("data")
    spent = facts.within(waiting, moments)
    nbytes = sum(pair.nbytes for pair in slow)
    rate = nbytes / sum(pair.moments.seconds for pair in slow)
    slower = max(0.0, 1 - rate / limits["slow-transfer.rate"])
    lost = spent * slower
    senders = _by_bytes(slow, "sender")
    receivers = _by_bytes(slow, "receiver")
    # Whichever is one of few: a slow line belongs to the worker that all slow pairs share.
    at = senders if len(senders) <= len(receivers) else receivers
    makers = _makers(facts, came)
    took = sum(pair.moments.seconds for pair in slow)
    messages = sum(pair.messages for pair in slow)
    whom = f"{'from' if at is senders else 'to'} {at[0] if len(at) == 1 else words.count(len(at), 'worker')}"
    if nbytes >= limits["slow-transfer.bytes"] / 2:
        came_how = f"Data came at {words.size(rate)}/s {whom}"
    else:
        few = words.count(messages, "message of few bytes", "messages of few bytes")
        each = " each" if messages > 1 else ""
        came_how = f"{few} took {words.duration(took / messages)}{each} {whom}"
    title = f"{came_how}, mostly of {quoted(makers[:1])}"
    why, advice = _on_line(facts, slow)
    packed = _packed(facts, slow)
    if packed:
        title = f"Results of {quoted(makers, 1)} take long to pickle: {came_how[0].lower()}{came_how[1:]}"
        why, advice = _PICKLED, _pickled_less(at[0])
    yield Finding(
        code="slow-transfer",
        severity="",
        title=title,
        tasks=tuple(dict.fromkeys((*makers[:5], *_users(facts)[:5]))),
        workers=tuple(dict.fromkeys((*at, *(senders if at is receivers else ())))),
        start=facts.since(moments.start[0]),
        stop=facts.since(moments.stop[-1]),
        cost_thread_seconds=lost,
        cost_seconds=facts.spread_pieces(waiting, moments) * slower,
        evidence=(
            Fact("bytes a second", rate, "bytes/s", limits["slow-transfer.rate"]),
            Fact("moved by them", nbytes, "bytes", limits["slow-transfer.bytes"]),
            Fact("time they took", took, "s"),
            Fact("messages", messages, "count"),
            *((Fact("event loops packed and unpacked meanwhile", packed, "s"),) if packed else ()),
            Fact("idle threads waiting meanwhile", spent, "s"),
        ),
        why=why,
        advice=advice,
        url=SLOW_TRANSFER.url,
    )


def pickling(facts: Facts, limits: Limits) -> dict[str, Moments]:
    """When workers sent or received results of which `slow-transfer` says that they take long to pickle."""
    slow = _slow_pairs(facts, limits)
    return _at_ends(slow) if slow and _packed(facts, slow) else {}


def _large(facts: Facts, limits: Limits) -> _Came:
    return _came(facts, limits["slow-transfer.message"], limits["slow-transfer.long"])


def _slow_pairs(facts: Facts, limits: Limits) -> list[_Pair]:
    """Pairs of workers between which data came slowly; none where that cost little."""
    if facts.spread_pieces(facts.pieces("data")) < max(
        limits["all.seconds"], limits["all.share"] * facts.wall
    ):
        return []
    return [pair for pair in _pairs(facts, _large(facts, limits)) if _is_slow(facts, limits, pair)]


def _packed(facts: Facts, slow: list[_Pair]) -> float:
    """Seconds in which event loops at either end packed or unpacked what came; 0 if that is not most."""
    stacks = facts.read("stacks")
    packs = np.array([_PACKS.search(file) is not None for file in stacks["file"].names] or [False])
    inside = np.append(below(stacks, packs[stacks["file"].codes]), False)
    seen = [sampled(facts, name, moments) for name, moments in _at_ends(slow).items()]
    packed = sum(float(each.seconds[inside[each.row]].sum()) for each in seen)
    sent = sum(moments.seconds for moments in _at_ends(slow, "sender").values())
    return packed if packed >= _MOSTLY * sent else 0.0


def _at_ends(pairs: list[_Pair], *ends: str) -> dict[str, Moments]:
    """When messages of some pairs were on their way, by the workers at these ends, or at either."""
    found: dict[str, list[Moments]] = {}
    for pair in pairs:
        for end in ends or ("sender", "receiver"):
            found.setdefault(getattr(pair, end), []).append(pair.moments)
    return {
        name: Moments.together((each.start, each.stop) for each in moments) for name, moments in found.items()
    }


_PICKLED = (
    "Most of that time was no time of a network: event loops packed and unpacked results, and did nothing "
    "else meanwhile. Objects of many small ones, such as dicts and lists, take long to pickle."
)
_BY_BUFFER = "pass NumPy arrays, Arrow tables or bytes, which are sent without pickling"


def _pickled_less(worker: str) -> str:
    return (
        f"{_BY_BUFFER[0].upper()}{_BY_BUFFER[1:]}; and move less: merge results where they are made.\n\n"
        "    table = pd.DataFrame(rows)   # to be returned in place of a list of dicts\n"
        f"    run.flame(worker={worker!r})   # with what its event loop packs"
    )


def _on_line(facts: Facts, slow: list[_Pair]) -> tuple[str, str]:
    """Why data came slowly, and what to do about it."""
    left_out = "and the time in which an event loop was busy otherwise is left out"
    compression = "    dask.config.get('distributed.comm.compression')   # False, unless somebody changed it"
    objects = f"If it is the objects: {_BY_BUFFER}."
    if all(_share_host(facts, pair) for pair in slow):
        return (
            f"That is slow (Dask expects 100 MB/s), {left_out}. Both workers are on one host, so that no "
            "network is to blame: objects of their own take long to pickle, which no call stack shows where "
            "Dask does it beside the event loop, as it does with large ones; the host is busy; or data are "
            "compressed that cannot be.",
            f"{objects} Else see how busy the host is, and have fewer workers there.\n\n{compression}",
        )
    return (
        f"That is slow for a network (Dask expects 100 MB/s), {left_out}. The line of that worker is slow or "
        "shared, it is in another place, it pickles objects of its own slowly, or data are compressed that "
        "cannot be.",
        "Measure the line (`iperf3`), choose the fast interface, and keep workers of one cluster in one "
        f"place. {objects}\n\n    dask worker tcp://scheduler:8786 --interface ib0\n{compression}",
    )


def _share_host(facts: Facts, pair: _Pair) -> bool:
    hosts = [facts.workers.get(name, {}).get("host") for name in (pair.sender, pair.receiver)]
    return bool(hosts[0]) and hosts[0] == hosts[1]


def _is_slow(facts: Facts, limits: Limits, pair: _Pair) -> bool:
    """Whether messages between two workers came slowly, and were many bytes or took much of the run."""
    if pair.nbytes >= limits["slow-transfer.bytes"] / 2:
        return pair.rate < limits["slow-transfer.rate"] or pair.raw < limits["slow-transfer.pickled"]
    took = pair.moments.seconds
    long = took / pair.messages >= limits["slow-transfer.long"]
    return long and pair.results >= _COUNT and took >= limits["slow-transfer.share"] * facts.wall


class _Pair(NamedTuple):
    sender: str
    receiver: str
    messages: int
    results: int
    nbytes: float
    moments: Moments
    #: Bytes a second while both event loops ran, and all the time.
    rate: float
    raw: float


def _pairs(facts: Facts, came: _Came) -> Iterator[_Pair]:
    """What went from which worker to which, when, and how fast that line was altogether meanwhile."""
    late = blocked(facts, _LATE)
    noise = Moments(np.zeros(0), np.zeros(0))
    if not own_workers(facts):
        # When the client's event loop is late too, the machine is busy.
        noise = late.get("client", noise)
    every = np.arange(len(came.nbytes))
    sent, received = split(came.sender, every), split(came.receiver, every)
    width = len(came.receiver.names)
    pair = came.sender.codes.astype("i8") * width + came.receiver.codes
    known, place = np.unique(pair, return_inverse=True)
    sums = np.bincount(place, came.nbytes)
    for code in known[np.argsort(-sums, kind="stable")][:_PAIRS].tolist():
        sender, receiver = came.sender.names[code // width], came.receiver.names[code % width]
        rows = sent[sender]
        rows = rows[pair[rows] == code]
        moments = whole = Moments.of(came.start[rows], came.stop[rows]).without(noise)
        for name in (sender, receiver):
            if name in late:
                moments = moments.without(late[name])
        if len(whole.start):
            both = (sent[sender], received[receiver])
            rate, raw = _rate(came, both, moments), _rate(came, both, whole)
            nbytes, results = float(came.nbytes[rows].sum()), int(came.results[rows].sum())
            yield _Pair(sender, receiver, len(rows), results, nbytes, whole, rate, raw)


def _rate(came: _Came, both: tuple[np.ndarray, np.ndarray], moments: Moments) -> float:
    """Bytes a second of a sender or of a receiver, whichever has more, in some moments."""
    length = moments.seconds
    # Messages of others over the same line share it.
    moved = max(float((came.nbytes[rows] * _share(came, rows, moments)).sum()) for rows in both)
    return moved / length if length > 0 else np.inf


def _share(came: _Came, rows: np.ndarray, moments: Moments) -> np.ndarray:
    """Share of each message's time that lies in some moments."""
    start, stop = came.start[rows], came.stop[rows]
    return ratio(moments.within(start, stop), stop - start)


def _came(facts: Facts, least: float, long: float = np.inf) -> _Came:
    """Messages with so many bytes, or that took so long, that workers received during the run."""
    transfers = facts.read("transfers")
    rows = is_any(transfers["direction"], ("in",))
    rows &= (transfers["nbytes"] >= least) | (transfers["stop"] - transfers["start"] >= long)
    rows &= (transfers["stop"] > facts.start) & (transfers["start"] < facts.stop)
    rows = np.flatnonzero(rows)
    start = transfers["start"][rows]
    ids, carried = transfers["transfer"][rows], facts.read("transferred")["transfer"]
    known = Lookup(ids).rows(carried)
    return _Came(
        ids,
        np.maximum(np.bincount(known[known >= 0], minlength=len(ids)), 1),
        np.nan_to_num(transfers["nbytes"][rows]),
        start,
        np.maximum(transfers["stop"][rows], start),
        *(Symbols(transfers[name].codes[rows], transfers[name].names) for name in ("worker", "peer")),
    )


def _makers(facts: Facts, came: _Came) -> tuple[str, ...]:
    """Names of the results that threads waited for, longest first; else of those with most bytes."""
    waited = facts.worst(facts.by_name(facts.pieces("data")), facts.names)
    carried = carried_by(facts, came.transfer)
    return tuple(name for name in waited if not carried or name in carried) or carried


def _users(facts: Facts) -> tuple[str, ...]:
    """Names of the tasks that waited for data, those that waited longest first."""
    known = facts.attempts
    # Of results that were there before the recording nobody knows whence they came.
    moved = facts.inputs.moved >= 0 if (facts.inputs.moved >= 0).any() else known.ran
    waited = np.where(known.ran & moved, np.maximum(known.inputs - known.received, 0.0), 0.0)
    sums = np.bincount(facts.prefix.codes, waited, len(facts.names))
    return facts.worst(sums, facts.names)


def _by_bytes(pairs: list[_Pair], end: str) -> tuple[str, ...]:
    sums: dict[str, float] = {}
    for pair in pairs:
        name = getattr(pair, end)
        sums[name] = sums.get(name, 0.0) + pair.nbytes
    return tuple(sorted(sums, key=lambda name: -sums[name]))


TRANSFER_BOUND = Rule(
    code="transfer-bound",
    says="Threads waited for data from other workers.",
    formula=(
        "Idle thread-seconds waiting for data (part `data` of the time budget) at least "
        "`transfer-bound.share` of all, and at least `transfer-bound.bytes` moved; critical from "
        "`transfer-bound.critical`. Named are what was waited for, then what waited."
    ),
    cost="Those thread-seconds / threads.",
    url="https://distributed.dask.org/en/stable/fine-performance-metrics.html",
    advice="Keep tasks where their data are, reduce before moving, P2P shuffles and rechunks.",
    find=_transfer_bound,
)
SLOW_TRANSFER = Rule(
    code="slow-transfer",
    says="Data came slowly from some worker, or to it.",
    formula=(
        "Between two workers, messages of `slow-transfer.message` or more, together half of "
        "`slow-transfer.bytes` or more; their bytes (with what others sent or received there meanwhile) "
        "over the time they took, without that in which an event loop at either end was late, below "
        "`slow-transfer.rate`; or with that time, below `slow-transfer.pickled`. Or messages of few bytes "
        "that took `slow-transfer.long` each, together `slow-transfer.share` of the run: their objects "
        "take long to pickle, or the line has long delays. Where event loops at either end were in "
        "`distributed.protocol` for half of that time, by their call stacks, pickling is told."
    ),
    cost="Idle thread-seconds waiting for data meanwhile × (1 − rate / `slow-transfer.rate`) / threads.",
    url="https://distributed.dask.org/en/stable/communications.html",
    advice="Look at that worker's network and disk; use types that serialize fast.",
    find=_slow_transfer,
)
