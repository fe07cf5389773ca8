"""When tasks had given their thread back: by `secede`, `worker_client`, or to wait for a computation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from contextlib import ExitStack, suppress
from threading import Thread
from typing import Any

from distributed import threadpoolexecutor as pools
from distributed.metrics import time

from .rows import Rows
from .waits import task_executors

LAYOUT = "run:I start:d stop:d"
_BOUND = 50_000
#: Seconds that a task is away before it is told of meanwhile; then each time that they grew by a part.
_TELL, _PART = 1.0, 0.25
#: Seconds for which the event loop waits for a lock of Dask's.
_PATIENCE = 0.05


class _Pool(set[Thread]):
    """The threads of a pool, which tells its followers when one leaves it or comes back.

    Those of other recorders may be of another version of this package.
    """

    def __init__(self, threads: set[Thread]) -> None:
        super().__init__(threads)
        self.followers: tuple[Seceded, ...] = ()

    def remove(self, thread: Thread) -> None:
        """Take a thread out; from then on another may take its place."""
        now = time()
        super().remove(thread)
        for each in self.followers:
            each.left(thread, now)

    def add(self, thread: Thread) -> None:
        """Take a thread in."""
        super().add(thread)
        for each in self.followers:
            each.back(thread)


class _Away:
    """A task whose thread is in no pool; seconds."""

    __slots__ = ("key", "since", "told")

    def __init__(self, key: Hashable, since: float) -> None:
        self.key = key
        self.since = since
        #: Up to when it has been told of.
        self.told = since


class Seceded:
    """Follows the tasks of a worker that run beside its pools of threads.

    Tasks' threads only note; rows are written by the event loop's, which takes them.

    Dask tells of the first time only that a task gives its thread back, and never when it takes one again
    (`rejoin`); a pool of ours stands in for the one that it changes then.

    Parameters
    ----------
    worker
        The `distributed.Worker`.
    run_of
        Gives the run that works on a task.
    failed
        Told of an error in a task's thread.
    """

    def __init__(
        self, worker: Any, run_of: Callable[[Hashable], int], failed: Callable[[str, Exception], None]
    ) -> None:
        self._worker = worker
        self._run_of = run_of
        self._failed = failed
        #: Tasks that are away, by run; who asks for every run looks here before it calls `ended`.
        self.away: dict[int, _Away] = {}
        #: What is over and not written yet: run, task, and when it had a thread again.
        self._over: deque[tuple[int, _Away, float]] = deque()
        self.rows = Rows(LAYOUT, _BOUND)
        self._pools: list[tuple[Any, _Pool]] = []
        #: Executors by name, as they were when pools were looked for.
        self._known: dict[str, Any] = {}
        #: Why it is not known of all tasks; '' if it is.
        self.reason = ""

    def look(self) -> None:
        """Follow the pools that are new, and take up the tasks that are away from them."""
        new = {name: each for name, each in task_executors(self._worker) if self._known.get(name) is not each}
        if not new:
            return
        self._known |= new
        for name, executor in new.items():
            if not isinstance(executor, pools.ThreadPoolExecutor):
                continue
            try:
                self._follow(executor)
            except (AttributeError, TypeError, TimeoutError) as error:
                self.reason = f"when tasks of the executor {name!r} gave their threads back: {error}"
        if not self.reason:
            self._begun_before()

    def _begun_before(self) -> None:
        """Take up the tasks that were away before anybody followed them; since when, nobody tells."""
        now, seceded = time(), {state.key for state in self._worker.state.long_running}
        for ident, key in self._worker.active_threads.copy().items():
            if key in seceded:
                run = self._run_of(key)
                self.away.setdefault(run, _Away(key, now))
                # Dask says so also of who is back, or comes back just now.
                if ident in {thread.ident for _, pool in self._pools for thread in list(pool)}:
                    self.ended(run, now)

    def ended(self, run: int, stop: float) -> None:
        """A run has ended, or has a thread again; from any thread."""
        away = self.away.pop(run, None)
        if away is not None:
            self._over.append((run, away, stop))

    def write(self) -> None:
        """Write rows of what is over, and of what is away for long; from the thread that drains them."""
        now = time()
        running = set(self._worker.active_threads.copy().values())
        for run, away in list(self.away.items()):
            if away.key not in running:
                self.ended(run, now)
            elif now - away.told >= max(_TELL, _PART * (now - away.since)):
                self._tell(run, away, now)
        while self._over:
            self._tell(*self._over.popleft())

    def tell_all(self) -> None:
        """Write rows of all that is away, as it is now; from the thread that drains them."""
        now = time()
        running = set(self._worker.active_threads.copy().values())
        for run, away in list(self.away.items()):
            if away.key in running:
                self._tell(run, away, now)

    def close(self) -> None:
        """Follow no more, and give pools that nobody follows plain sets again.

        One that Dask is changing keeps ours, which tells nobody anything.
        """
        for executor, pool in self._pools:
            pool.followers = tuple(each for each in pool.followers if each is not self)
            with suppress(TimeoutError), _still(executor):
                if executor._threads is pool and not pool.followers:
                    executor._threads = set(pool)
        self._pools.clear()

    def _follow(self, executor: Any) -> None:
        with _still(executor):
            pool = executor._threads
            if not hasattr(pool, "followers"):
                if not isinstance(pool, set):
                    raise TypeError(f"Dask keeps its threads in a {type(pool).__name__}")
                pool = executor._threads = _Pool(pool)
            pool.followers += (self,)
        self._pools.append((executor, pool))

    def left(self, thread: Thread, now: float) -> None:
        """A thread has left its pool: if a task runs on it, that has seceded; else the thread ends."""
        try:
            key = self._worker.active_threads.get(thread.ident)
            if key is not None:
                self.away[self._run_of(key)] = _Away(key, now)
        except Exception as error:
            self._failed("secede", error)

    def back(self, thread: Thread) -> None:
        """A thread has come into a pool: if a task runs on it, that has one again; else the thread is new."""
        try:
            key = self._worker.active_threads.get(thread.ident)
            if key is not None:
                self.ended(self._run_of(key), time())
        except Exception as error:
            self._failed("rejoin", error)

    def _tell(self, run: int, away: _Away, until: float) -> None:
        if until > away.told:
            self.rows.add(run, away.told, until)
            away.told = until


def _still(executor: Any) -> ExitStack:
    """Nobody takes threads in or out meanwhile; locks in the order in which Dask takes them.

    Raises
    ------
    TimeoutError
        If Dask holds one: a pool that shuts down keeps one that all pools share, until its tasks have ended.
    """
    with ExitStack() as locks:
        for lock in (pools.threads_lock, executor._shutdown_lock, executor._rejoin_lock):
            if not lock.acquire(timeout=_PATIENCE):
                raise TimeoutError("Dask was about to change its threads")
            locks.callback(lock.release)
        return locks.pop_all()
