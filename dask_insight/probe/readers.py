"""Who follows the stores of a scheduler's probe, and how far each has come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import accumulate, chain
from time import monotonic
from typing import Any

import msgpack

from .layouts import LAYOUTS
from .rows import Blobs, Items, Names, Rows, picking
from .tasks import Tasks

#: Most rows of a table in one reply, and most bytes of workers' messages: a few milliseconds of work.
SLICE = 8192
BYTES = 4_000_000
#: Rows that a reply over a quick link may have for each of its groups up to which the next one has fewer.
_MANY = 8
#: Names of a kind in a reply that has no rows, for each row of a table that another one may have.
_NAMES = 4
#: Seconds that a reply aims at on a slow link, so that who waits for it knows that more comes; and the least
#: bytes that it aims at, below which asking takes longer than answering.
AIM = 1.0
LEAST = 64_000
#: Names that gauges of all workers may have together.
GAUGES = 1000
#: What is told of no more where there is too much of it.
_LACKING = {
    "worker_names": "workers",
    "type_names": "types of results",
    "action_names": "phases of tasks",
}
_GROUP = picking(LAYOUTS["graph"], "group")
#: Tables whose rows are as long as what people write, up to tens of kilobytes each.
_TEXTS = ("errors", "events")

Position = dict[str, int]
Group = tuple[int, str, str, str]


class Reader:
    """One recorder: what it asked for and what it is yet to be told."""

    def __init__(self, client: str, options: dict[str, Any]) -> None:
        self.client = client
        self.options = options
        #: Keys of tasks that others have been told of already, whose ids are below `below`.
        self.backlog: list[Hashable] = []
        self.below = 0
        self.at: Position = {}
        #: Groups that the last answer names: code, group, task name, span.
        self.groups: list[Group] = []
        #: Whether the next answer may name many, too; what was there before may be all groups of their own.
        self.names_many = True
        self.heard = monotonic()

    @property
    def caught_up(self) -> bool:
        """Whether it has received its backlog."""
        return self.at["again"] >= len(self.backlog)

    def received(self, at: Position) -> None:
        """It has all up to there; the keys of its backlog may hold much, and the scheduler forgets them."""
        self.at = at
        if self.caught_up:
            self.backlog = []

    def gone(self) -> bool:
        """Whether nothing was heard of it for longer than its lease."""
        return monotonic() - self.heard > float(self.options.get("lease", 300.0))


class Stores:
    """All that is kept until every reader has it."""

    def __init__(self, tasks: Tasks, bound: int) -> None:
        self.tasks = tasks
        self.events = Items(min(bound, 100_000))
        self.workers = Items(min(bound, 100_000))
        self.memory = Rows(LAYOUTS["memory"], bound)
        self.gauges = Rows(LAYOUTS["gauges"], bound)
        #: The first stands for those beyond.
        self.gauge_names = Names("", GAUGES + 1)
        self.blobs = Blobs(64_000_000)
        self._tables: dict[str, Rows | Items] = {
            "graph": tasks.graph.rows,
            "keys": tasks.graph.keys,
            "edges": tasks.graph.edges,
            "attempts": tasks.attempts,
            "phases": tasks.phases,
            "releases": tasks.releases,
            "errors": tasks.errors,
            "submissions": tasks.graph.submissions,
            "events": self.events,
            "workers": self.workers,
            "memory": self.memory,
            "gauges": self.gauges,
        }
        #: Those that rows refer to.
        self._names: dict[str, Names] = {
            "worker_names": tasks.workers,
            "type_names": tasks.types,
            "action_names": tasks.actions,
            "gauge_names": self.gauge_names,
        }
        self._facts = {"functions": tasks.graph.functions, "fused": tasks.graph.fused}

    def start(self) -> Position:
        """The position of a reader that begins now: all names but those of groups, no rows."""
        at = {name: table.end for name, table in self._tables.items()}
        return at | dict.fromkeys((*self._names, *self._facts), 0) | {"blobs": self.blobs.end, "again": 0}

    def release(self, readers: list[Reader]) -> None:
        """Drop what all readers have."""
        for name, table in [*self._tables.items(), ("blobs", self.blobs)]:
            table.release(min((reader.at[name] for reader in readers), default=table.end))

    def read(self, reader: Reader, rate: float = BYTES / AIM) -> tuple[bytes, list[Any], Position, bool]:
        """What a reader does not have yet, a slice of it.

        Parameters
        ----------
        rate
            Bytes a second that come to it.

        Returns
        -------
        packed
            A msgpack map of packed rows, objects and names by table, with
            ``lost``: rows dropped by table.
        blobs
            Workers' messages.
        at
            The reader's position when it has received this.
        more
            Whether there is more to read at once.
        """
        at = dict(reader.at)
        told: dict[str, Any] = {}
        share = min(max(AIM * rate, LEAST) / BYTES, 1.0)
        # Naming a group takes longer than a row.
        most = SLICE // (4 if reader.names_many else 1)
        rows = int(most * share)
        missed, at["blobs"], blobs = self.blobs.take(at["blobs"], int(BYTES * share))
        lost = {"blobs": missed} if missed else {}
        reader.groups = []
        self._note_lacking()
        if any(len(names.codes) - at[name] > rows for name, names in self._names.items()):
            # Rows may have any code there is, so names that are too many to go with them go before them;
            # messages have none, and would overflow meanwhile.
            return _packed(_news(self._names, at, _NAMES * rows), lost), blobs, at, True
        more = at["blobs"] < self.blobs.end
        for name, table in self._tables.items():
            if name == "attempts" and at["graph"] < self.tasks.graph.rows.end:
                break
            missed, at[name], found = table.take(at[name], rows)
            if name in _TEXTS:
                beyond = _beyond(found, int(BYTES * share))
                at[name] -= beyond
                found = found[: len(found) - beyond]
            if missed:
                lost[name] = missed
            if found:
                told[name] = bytes(found) if isinstance(found, bytearray) else found
                more = more or at[name] < table.end
        more = more or at["graph"] < self.tasks.graph.rows.end
        if "keys" in told:
            told["keys"] = pack_keys(told["keys"])
        if keys := reader.backlog[at["again"] : at["again"] + rows // 4]:
            told["again"] = self._again(keys, reader.below)
            at["again"] += len(keys)
            more = True
        # Last: what is told again may be the first to have a name.
        told |= _news(self._names, at) | _news(self._facts, at, rows)
        more = more or any(at[name] < len(facts.codes) for name, facts in self._facts.items())
        again = told.get("again", (b"", b"", b""))
        if groups := self._groups(told.get("graph", b"") + again[1]):
            told["group_names"] = reader.groups = groups
        # By how many there might have been, or it would change with each answer.
        reader.names_many = len(groups) * _MANY > most
        return _packed(told, lost), blobs, at, more

    def _groups(self, packed: bytes) -> list[Group]:
        """The groups that rows of `graph` name, by code: every answer tells all of its own."""
        groups = self.tasks.graph.groups
        codes = sorted(set(chain.from_iterable(_GROUP.iter_unpack(packed))))
        if not codes:
            return []
        first, span = codes[0], codes[-1] - codes[0] + 1
        if first >= groups.first and span <= 2 * len(codes):
            # Mostly all of a stretch: far quicker than one by one.
            told = groups.take(first, span)[2]
            return [(code, *told[code - first]) for code in codes]
        found = [groups.at(code) for code in codes]
        if None in found:
            self.tasks.graph.leaves_out.add("names of tasks may be missing, too many were new at once")
        return [(code, *(group or ("", "", ""))) for code, group in zip(codes, found, strict=True)]

    def _note_lacking(self) -> None:
        for name, what in _LACKING.items():
            codes = self._names[name].codes
            if codes.beyond:
                said = f"{what} may be missing, no more than {codes.bound:,} are kept"
                self.tasks.graph.leaves_out.add(said)

    def _again(self, keys: list[Hashable], below: int) -> tuple[bytes, bytes, bytes]:
        """Tasks that a reader has not seen although others have: keys, `graph` and `edges` rows."""
        described: list[Hashable] = []
        graph, edges = bytearray(), bytearray()
        for key in keys:
            known = self.tasks.graph.describe(key, below)
            if known is not None:
                described.append(key)
                graph += known[0]
                edges += known[1]
        return pack_keys(described), bytes(graph), bytes(edges)


def _news(known: dict[str, Names], at: Position, most: int | None = None) -> dict[str, list[Hashable]]:
    """Of each kind what a reader does not have yet, the first so many; `at` goes on behind them."""
    told = {}
    for name, names in known.items():
        if new := names.since(at[name], most):
            told[name] = new
            at[name] += len(new)
    return told


def _packed(told: dict[str, Any], lost: dict[str, int]) -> bytes:
    given = told | ({"lost": lost} if lost else {})
    packed: bytes = msgpack.packb(given, default=str, unicode_errors="backslashreplace")
    return packed


def _beyond(found: list[tuple[Any, ...]], most: int) -> int:
    """How many of the last rows have too much text for one reply, which has one row at least."""
    lengths = accumulate(sum(len(each) for each in row if isinstance(each, str)) for row in found[1:])
    return sum(length > most for length in lengths)


def pack_keys(keys: list[Hashable]) -> bytes:
    """Keys as msgpack, which is far cheaper than their text; as text where msgpack cannot hold them."""
    try:
        packed: bytes = msgpack.packb(keys)
    except Exception:
        packed = msgpack.packb([str(key) for key in keys], unicode_errors="backslashreplace")
    return packed


def spans_of(scheduler: Any, groups: Iterable[Group]) -> list[tuple[str, tuple[str, ...], str]]:
    """The spans of named groups, and those around them: id, name, id of the parent."""
    extension = scheduler.extensions.get("spans")
    known = extension.spans if extension is not None else {}
    found = {}
    for *_, one in groups:
        span = known.get(one)
        while span is not None and span.id not in found:
            found[span.id] = (span.id, span.name, span.parent.id if span.parent else "")
            span = span.parent
    return list(found.values())
