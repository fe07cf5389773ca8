"""How the processes of lost workers ended, as their nannies said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ... import words
from ...tables.facts import facts as about
from ...tables.facts import from_json
from .facts import Facts, is_any
from .finding import Fact

#: Signals with which code crashes.
_CRASHES = ("SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGTRAP")
#: Windows knows no such signals: a process ends with what went wrong, from here on, here for lack of memory.
_WRONG, _NO_MEMORY = 0xC000_0000, (0xC000_0017, 0xC000_012D)
#: Here by Ctrl+C, as its console was closed or as somebody logged off; and this where it is ended by force.
_CLOSED, _FORCED = (0xC000_013A, 0xC000_0142), 1
#: With which other systems kill for memory.
_KILL = 9
#: From where on a number is no signal, and no status.
_SIGNALS, _STATUSES = 1 << 8, 1 << 32
_NAME = re.compile("SIG[A-Z0-9]{1,9}")

_CRASHED = (
    "A library crashed, or what calls it did what it does not allow, such as to use it from several threads "
    "at once.{} Have it print where, and run that task alone:\n\n"
    "    import faulthandler\n"
    "    client.run(faulthandler.enable)   # before you compute; workers then print where they crash"
)
#: Signals of code that may have got no memory, and what to do about that.
_LACKING = {
    "SIGABRT": " Where memory was nearly full, it may have got none, and C++ aborts (`std::bad_alloc`): make "
    "chunks smaller then, or give a worker fewer threads.",
    "SIGBUS": " Where memory, a disk or `/dev/shm` was nearly full, a file that it maps may have had no "
    "room: make chunks smaller then, or give a container more with `--shm-size`.",
}
_BY_SOMEBODY = (
    "Somebody may have ended it by force, as Windows' Task Manager and `taskkill /F` do; or something that a "
    "task called ended the whole process, as `os._exit` does and libraries that give up. "
)
_BY_ITSELF = (
    "Something that a task called ended the whole process, as `os._exit` does and libraries that give up. "
)
_PRINTED = (
    "Look at what the worker printed last, and run that task alone; have it raise an exception instead."
)


class Exit(NamedTuple):
    """The end of a process: by a signal (0 if nobody knows which), or else with a status."""

    signal: int
    name: str
    status: int | None

    @property
    def short(self) -> str:
        """What it ended with."""
        if self.status is not None:
            code = f"{self.status:#010X}".replace("X", "x") if self.status >= _WRONG else self.status
            return f"status {code}"
        return self.name or (f"signal {self.signal}" if self.signal else "a signal")

    @property
    def crashed(self) -> bool:
        """Whether code of the process did what is not allowed."""
        return self.name in _CRASHES or ((self.status or 0) >= _WRONG and self.status not in _CLOSED)

    @property
    def may_be_for_memory(self) -> bool:
        """Whether it may have been killed for its memory."""
        return self.status in _NO_MEMORY or (self.status is None and self.signal in (0, _KILL))

    @property
    def may_lack_memory(self) -> bool:
        """Whether it may have crashed as it got no memory."""
        return self.name in _LACKING

    def advice(self, windows: bool) -> str:
        """What to do about it, on Windows or elsewhere; '' where that is not known."""
        if self.may_be_for_memory or self.status in _CLOSED:
            return ""
        if self.crashed:
            return _CRASHED.format(_LACKING.get(self.name, ""))
        if self.status is None:
            return ""
        return f"{_BY_SOMEBODY if windows and self.status == _FORCED else _BY_ITSELF}{_PRINTED}"

    def told(self, were: str) -> str:
        """What became of a process that `was`, or of many that `were`."""
        which = self.short if self.status is not None else f"signal {self.signal}"
        if self.name:
            which += f" ({self.name})"
        if self.crashed:
            return f"crashed with {which}"
        if self.status is not None:
            return f"exited with {which}"
        return f"{were} killed by {which if self.signal else 'an unknown signal'}"


class Exits:
    """How some workers ended, as far as their nannies said so.

    Some of them, `for_memory`, these ended themselves.
    """

    def __init__(self, facts: Facts, workers: Iterable[str], for_memory: Collection[str] = ()) -> None:
        known, names = _exits(facts), list(dict.fromkeys(workers))
        self._facts = facts
        self._of = {name: known[name] for name in names if name in known and name not in for_memory}
        self._workers = len(names)
        self._for_memory = sum(name in for_memory for name in names)

    @cached_property
    def _kinds(self) -> list[tuple[Exit, int]]:
        return Counter(self._of.values()).most_common()

    @property
    def only(self) -> Exit | None:
        """How all of them ended; None if that differs, or is not known of each."""
        return self._kinds[0][0] if self._kinds and self._kinds[0][1] == self._workers else None

    @property
    def advice(self) -> str:
        """What to do about it where all of them ended alike; '' where that is not known."""
        return self.only.advice(_on_windows(self._facts, self._of)) if self.only else ""

    def may_be_for_memory(self, worker: str) -> bool:
        """Whether nothing says that a worker was not killed for its memory."""
        exit = self._of.get(worker)
        return exit is None or exit.may_be_for_memory

    def may_lack_memory(self, worker: str) -> bool:
        """Whether it may have crashed as it got no memory."""
        return worker in self._of and self._of[worker].may_lack_memory

    def why(self) -> str:
        """What their nannies said, in a sentence; '' if nothing."""
        if not self._kinds:
            return ""
        if self._workers == 1:
            return f"As its nanny says, the process {self._kinds[0][0].told('was')}. "
        if self.only:
            return f"As their nannies say, the processes {self.only.told('were')}. "
        parts = [f"{number:,} {exit.told(_were(number))}" for exit, number in self._kinds]
        if ended := self._for_memory:
            parts.insert(0, f"{ended:,} {_were(ended)} ended by them for memory")
        if unknown := self._workers - self._for_memory - len(self._of):
            parts.append(f"{unknown:,} ended in a way that is not known")
        return f"Of the processes, as far as nannies say, {words.listing(parts)}. "

    def facts(self) -> Iterator[Fact]:
        """The same as figures."""
        for exit, number in self._kinds:
            yield Fact(f"processes that {exit.told('were')}", number, "count")


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _number(value: object, bound: int) -> int:
    """A whole number from 0 on and below a bound; ValueError if it is none."""
    if type(value) is int and 0 <= value < bound:
        return value
    raise ValueError(f"{type(value).__name__}, or not below {bound}")


def _on_windows(facts: Facts, workers: Collection[str]) -> bool:
    """Whether one of some workers ran on Windows, as they say; where none does, as who recorded them did."""
    table = facts.read("workers")
    told = zip(table["worker"].tolist(), table["detail"].tolist(), strict=True)
    systems = {_system(detail) for worker, detail in told if worker in workers} - {""}
    here = str(about(facts.read("about")).get("platform", "")).partition("-")[0]
    return "Windows" in (systems or {here})


def _system(detail: str) -> str:
    """The system that the details of a worker name; '' if none."""
    try:
        return str(from_json(detail)["versions"]["host"]["OS"])
    except (KeyError, TypeError, ValueError):
        return ""


def _exits(facts: Facts) -> dict[str, Exit]:
    """By worker, what stands in the events."""
    events = facts.read("events")
    found: dict[str, Exit] = {}
    for row in np.flatnonzero(is_any(events["kind"], ("worker-exit",))).tolist():
        try:
            detail = from_json(events["detail"][row])
            status, name = detail.get("status"), str(detail.get("name", ""))
            exit = Exit(
                _number(detail.get("signal", 0), _SIGNALS),
                name if _NAME.fullmatch(name) else "",
                None if status is None else _number(status, _STATUSES),
            )
        except (AttributeError, ValueError):
            continue
        found[events["source"].names[events["source"].codes[row]]] = exit
    return found
