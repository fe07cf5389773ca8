"""What pages get of a recording that grows: every batch once, in order, in few messages.

A feed knows nothing of how messages travel; `hosts` bring it a function that
sends one. Pages say where they stand in the sequence of batches, so a page that
was slow, hidden or reloaded gets what it lacks in large pieces, and nothing is
queued for it in the meantime.

Messages to pages (JSON, and for ``data`` and ``answers`` one buffer). Those with ``pages`` are
for these only, the others for all:

===========  ================================================================
``hello``    ``protocol, version, feed, upto``: answers a page's; also when the feed opens
``data``     ``feed, from, to, replay, packed?``: the buffer holds batches ``from`` up
             to ``to``, one after another. A page that stands elsewhere says hello;
             ``from`` 0 means begin anew. ``packed``: so many bytes each of the first
             pieces have, which are compressed by zlib; only for pages that unpack
``answers``  ``feed``: the buffer holds tables that were worked out from the
             others; each takes the place of what the page has of it
``state``    ``feed`` and what the owner of the feed has to tell, all of it. ``resting``: it is
             the last that is sent until the feed wakes up; its ``notes`` say so in words
``gone``     ``feed``: it has ended
===========  ================================================================

Messages from a page, each with its id as ``page``:

============  ===============================================================
``hello``     ``protocol, version, have: {feed, at} | null, visible, needs, unpacks?,
              prompt?``: its acknowledgements wait for no cell, so silence says something
``ack``       ``at``: batches before this have been taken in
``visible``   ``visible``: nothing is sent to a page that nobody looks at
``needs``     ``tables``: those among the worked-out ones that it shows
``settings``  ``values``: for the owner of the feed
``bye``       it is gone
============  ===============================================================

Two ends of one ``protocol`` understand each other, whatever their versions: what is new
has to be asked for, as ``unpacks`` does, or said, as ``prompt`` is. Of another protocol a
page is told no more than hello, by which it knows which of the two is older; what else it
says is left aside.

A feed rests when nothing runs and no page has said anything but ``ack`` for a while: servers take each
message for a sign that somebody is there, and are never stopped. It wakes up when something runs, or a
page says something.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from math import inf
from typing import Any, NamedTuple, Protocol

from ..batch import announced
from ..columns import Columns
from ..sources.cells import NO_CELL, running_cell
from ..store import Piece
from .audience import Audience
from .explainer import Edition, Explainer, runs
from .page import LEASE, Page, count, tables

#: Grows when messages change their meaning.
PROTOCOL = 1
#: Bytes aimed at in one message.
MESSAGE = 2 * 2**20
#: Least seconds between two messages about the state.
STATE = 1.0
#: Turnover of the recording after which a page begins anew: it keeps what the recording drops.
OUTGROWN = 0.5
#: Seconds without a sign of a person or of work after which a feed rests: longer than somebody looks at what
#: does not change, short beside the hour or so after which servers are stopped. No longer than `page.LEASE`:
#: pages that were forgotten before would greet, and keep it awake.
REST = 600.0
_RESTS = (
    f"Nothing has run for {REST / 60:.0f} minutes: paused so that an idle server may be stopped. "
    "Goes on when something runs or a panel is touched."
)
#: Tables whose rows come because something runs.
_WORK = frozenset(("graph", "attempts", "running", "cells"))
#: Seconds before a message that could not be sent is tried again.
_RETRY = 1.0

Send = Callable[[dict[str, Any], list[bytes]], None]


class Source(Protocol):
    """The recording that is fed to pages."""

    @property
    def end(self) -> int:
        """Batches so far."""

    @property
    def turnover(self) -> float:
        """How many times over what it keeps has been dropped."""

    def since(self, at: int, size: int, packed: bool = False) -> Piece | None:
        """Batches from position `at` on, about `size` bytes, maybe compressed; None if there are none."""

    def columns(self, table: str) -> Columns:
        """A table's columns."""

    def forget(self) -> None:
        """Let go of columns that were put together."""

    def on_append(self, follower: Callable[[bytes], None]) -> Callable[[], None]:
        """Have `follower` called with every batch to come; returns what ends that."""


class Turn(NamedTuple):
    """What came of a call of `Feed.tick`."""

    #: A message was sent.
    sent: bool
    #: Seconds after which there is more to do; None: only when something happens.
    again: float | None


class Feed:
    """The pages that follow one recording over one transport.

    Parameters
    ----------
    recording
        What they follow.
    send
        Sends a message with its buffers to all pages; called by `tick` and
        `close`. What it raises is taken for "not sent": tried again later.
    wake
        Called, from any thread, when `tick` has something to do.
    state
        Gives what ``state`` messages tell; it is sent when it differs from what was sent last.
    settings
        Takes the values that a page has set.
    explainer
        Works out the tables that pages need besides.
    lease
        Seconds of silence after which a page is forgotten that was sent something, unless a cell runs.
    """

    def __init__(
        self,
        recording: Source,
        send: Send,
        *,
        wake: Callable[[], None] = lambda: None,
        state: Callable[[], Mapping[str, Any]] | None = None,
        settings: Callable[[Mapping[str, Any]], None] | None = None,
        explainer: Explainer | None = None,
        lease: float = LEASE,
    ) -> None:
        self.id = uuid.uuid4().hex
        self._recording = recording
        self._send = send
        self._wake = wake
        self._state = state
        self._settings = settings
        self._lease = lease
        self._lock = threading.RLock()
        self._pages: dict[str, Page] = {}
        self._told: dict[str, Any] | None = None
        self._told_at = 0.0
        self._failed = False
        self._closed = False
        self._stranger = False
        self._resting = False
        #: When something ran or a page said something last.
        self._stirred = time.monotonic()
        self._unfollow = recording.on_append(self._appended)
        self._audience: Audience = getattr(recording, "audience", Audience())
        self._unshow = self._audience.add(self.looked_at)
        self._explainer = explainer
        self._unserve: Callable[[], None] = lambda: None
        if explainer is not None:
            self._unserve = explainer.serve(self.needed, wake)

    @property
    def pages(self) -> int:
        """Pages that are known."""
        return len(self._pages)

    def hello(self, pages: list[str] | None = None) -> dict[str, Any]:
        """The message that says who this is; to all pages, by default."""
        message: dict[str, Any] = {
            "type": "hello",
            "protocol": PROTOCOL,
            "version": own_version(),
            "feed": self.id,
            "upto": self._recording.end,
        }
        return message if pages is None else message | {"pages": pages}

    def handle(self, message: Mapping[str, Any]) -> None:
        """Take a page's message; quick, from any thread. What makes no sense is left aside."""
        name, kind = message.get("page"), message.get("type")
        if not isinstance(name, str) or self._closed:
            return
        with self._lock:
            if kind == "hello":
                self._greeted(name, message)
            elif kind == "bye":
                self._pages.pop(name, None)
            page = self._pages.get(name)
            # It was forgotten: greeted again, it greets too.
            self._stranger |= page is None and kind in ("ack", "visible", "needs")
            if page is not None:
                page.seen = time.monotonic()
                if kind == "ack":
                    page.acknowledged(count(message.get("at")))
                elif kind == "visible":
                    page.visible = bool(message.get("visible"))
                    self._told = None
                elif kind == "needs":
                    page.needs = tables(message.get("tables"))
        if kind != "ack":
            self.stir()
        if kind in ("hello", "visible") and self.looked_at():
            self._audience.came()
        values = message.get("values")
        foreign = page is not None and page.foreign
        if kind == "settings" and self._settings is not None and isinstance(values, Mapping) and not foreign:
            self._settings(values)
        self._wake()
        if self._explainer is not None and kind != "ack":
            self._explainer.wake()

    def _greeted(self, name: str, message: Mapping[str, Any]) -> None:
        have = message.get("have")
        at = count(have.get("at")) if isinstance(have, Mapping) and have.get("feed") == self.id else 0
        at = at if at <= self._recording.end else 0
        page = Page(at, self._recording.end, bool(message.get("visible", True)), self._recording.turnover)
        page.foreign = message.get("protocol") != PROTOCOL
        page.needs = tables(message.get("needs"))
        page.unpacks = message.get("unpacks") is True
        page.prompt = message.get("prompt") is True
        if (before := self._pages.get(name)) is not None and at:
            page.turnover = before.turnover
        self._pages[name] = page

    def tick(self) -> Turn:
        """Send at most one message, and one about the state beside it.

        Called by one thread, at most ten times a second for all feeds.
        """
        if self._closed:
            return Turn(False, None)
        self._failed = False
        if self._idle():
            return self._rest()
        self._resting = False
        self._forget()
        sent = self._answer() or self._explain() or self._feed()
        # A turn of its own would have the rows of the next answer wait.
        sent = self._tell() or sent
        return Turn(sent, _RETRY if self._failed else self._again())

    def _idle(self) -> bool:
        """Whether for long nothing has run, and nobody said anything."""
        if time.monotonic() - self._stirred < REST:
            return False
        if not self._resting and (running_cell() != NO_CELL or self._works()):
            self._stirred = time.monotonic()
            return False
        return True

    def _works(self) -> bool:
        """Whether a task is running, however long it has been."""
        try:
            return runs(self._recording.columns)
        finally:
            # They would lie there for as long as it rests.
            self._recording.forget()

    def _rest(self) -> Turn:
        """Say so, and nothing more."""
        if self._resting:
            return Turn(False, None)
        self._resting, self._told_at = True, 0.0
        sent = self._tell()
        if self._failed:
            self._resting = False
        return Turn(sent, _RETRY if self._failed else None)

    def stir(self) -> None:
        """Something runs, or somebody is there; from any thread."""
        self._stirred = time.monotonic()
        if not self._resting:
            return
        with self._lock:
            self._resting = False
            for page in self._pages.values():
                # It was sent nothing that it could have answered.
                page.seen = self._stirred
        if self._explainer is not None:
            self._explainer.wake()
        if self.looked_at():
            self._audience.came()
        self._wake()

    def _forget(self) -> None:
        """Let go of pages that have not been heard of for long."""
        # Where answers wait for the cell that runs, silence says nothing.
        lease = self._lease if running_cell() == NO_CELL else inf
        now = time.monotonic()
        with self._lock:
            for name in [name for name, page in self._pages.items() if page.gone(now, lease)]:
                # It may have had nothing to say: then it greets anew when it is greeted.
                self._stranger |= not self._pages.pop(name).foreign

    def _answer(self) -> bool:
        with self._lock:
            asked = {name: page for name, page in self._pages.items() if page.unanswered}
        if self._stranger and self._sent(self.hello(), []):
            self._stranger = False
            return True
        if not asked or not self._sent(self.hello(list(asked)), []):
            return False
        for page in asked.values():
            page.unanswered = False
        # Who is new has not heard it.
        self._told = None
        self._told_at = 0.0
        return True

    def _tell(self) -> bool:
        if self._state is None or not self._listening() or time.monotonic() - self._told_at < STATE:
            return False
        state = self._stands(self._state)
        if state == self._told or not self._sent({"type": "state", "feed": self.id, **state}, []):
            return False
        self._told, self._told_at = state, time.monotonic()
        return True

    def _stands(self, state: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """What there is to tell now about the state."""
        stands = dict(state())
        if self._resting:
            stands |= {"resting": True, "notes": [*stands.get("notes", ()), _RESTS]}
        return stands

    def needed(self) -> set[str]:
        """The worked-out tables that pages show which somebody looks at."""
        with self._lock:
            return {table for page in self._pages.values() if page.listening for table in page.needs}

    def _explain(self) -> bool:
        lacking = self._lacking()
        if not lacking:
            return False
        first = next(iter(lacking.values()))
        pages = [name for name, editions in lacking.items() if editions == first]
        data = b"".join(edition.batch for edition in first.values())
        message = {"type": "answers", "feed": self.id, "pages": pages}
        if not self._sent(message, [data]):
            return False
        with self._lock:
            for name in pages:
                if name in self._pages:
                    self._pages[name].learned(first, len(data))
        return True

    def _lacking(self) -> dict[str, dict[str, Edition]]:
        """The pages that lack an edition, and what they lack."""
        if self._explainer is None:
            return {}
        with self._lock:
            asking = {name: page for name, page in self._pages.items() if page.listening and page.caught_up}
            found = {
                name: {
                    table: edition
                    for table in sorted(page.needs)
                    if (edition := self._explainer.newest(table)) is not None
                    and edition.number > page.has.get(table, 0)
                }
                for name, page in asking.items()
            }
        return {name: editions for name, editions in found.items() if editions}

    def _feed(self) -> bool:
        pages = self._next()
        if not pages:
            return False
        one = next(iter(pages.values()))
        end = self._recording.end
        piece = self._recording.since(one.at, MESSAGE, one.unpacks)
        if piece is None:
            return False
        message = {
            "type": "data",
            "feed": self.id,
            "from": piece.start,
            "to": piece.stop,
            "replay": piece.stop < end,
            "pages": list(pages),
        }
        if piece.packed:
            message["packed"] = [len(each) for each in piece.packed]
        if not self._sent(message, [b"".join((*piece.packed, piece.data))]):
            return False
        turnover = self._recording.turnover
        with self._lock:
            for page in pages.values():
                page.took(piece, turnover)
        return True

    def _next(self) -> dict[str, Page]:
        """The pages that stand where the one stands that has waited longest."""
        end = self._recording.end
        with self._lock:
            for page in self._pages.values():
                if page.at and self._recording.turnover - page.turnover > OUTGROWN:
                    page.anew(end)
            ready = {name: page for name, page in self._pages.items() if page.ready(end)}
            if not ready:
                return {}
            first = min(ready.values(), key=lambda page: page.served)
            alike = (first.at, first.unpacks)
            return {name: page for name, page in ready.items() if (page.at, page.unpacks) == alike}

    def _again(self) -> float | None:
        end = self._recording.end
        with self._lock:
            pages = list(self._pages.values())
        if self._stranger or any(page.unanswered for page in pages) or self._lacking():
            return 0.0
        waits = [wait for page in pages if (wait := page.rest(end)) is not None]
        if self._state is not None and self._listening():
            wait = self._told_at + STATE - time.monotonic()
            if wait > 0:
                # Whether it changed is worked out then, not at every turn until then.
                waits.append(wait)
        return min(waits, default=None)

    def looked_at(self) -> bool:
        """Whether somebody looks at a page, as far as can be told; from any thread."""
        with self._lock:
            pages = () if self._resting else self._pages.values()
            return any(page.visible and not page.foreign for page in pages)

    def _listening(self) -> bool:
        with self._lock:
            return any(page.listening for page in self._pages.values())

    def _sent(self, message: dict[str, Any], buffers: list[bytes]) -> bool:
        try:
            self._send(message, buffers)
        except Exception:
            self._failed = True
            return False
        return True

    def _appended(self, batch: bytes) -> None:
        if not self._pages:
            return
        works = announced(batch)[0] in _WORK
        if works:
            self.stir()
        if works or not self._resting:
            self._wake()

    def close(self) -> None:
        """Tell the pages that there will be no more."""
        if self._closed:
            return
        self._closed = True
        self._unfollow()
        self._unshow()
        self._unserve()
        self._sent({"type": "gone", "feed": self.id}, [])
        with self._lock:
            self._pages.clear()


def own_version() -> str:
    """The version of this package; '' if it is not installed."""
    try:
        return version("dask_insight")
    except PackageNotFoundError:
        return ""
