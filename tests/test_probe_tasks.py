"""What the scheduler's hook notes becomes the same rows whenever the notes are settled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.scheduler import TaskGroup, TaskPrefix, TaskState
from hypothesis import given
from hypothesis import strategies as st

from dask_insight.probe import tasks as module
from dask_insight.probe.graph import NOTHING, STATES
from dask_insight.probe.tasks import Tasks
from dask_insight.sources.cluster.layouts import rows

ADDRESS = "tcp://192.0.2.1:40000"
KEYS = ("a", "b", "c")
PLAIN = ("wanted", "queued", "given", "finished")
#: Lives that a task may have on a scheduler, also twice over.
LIVES = (
    PLAIN,
    ("wanted", "given", "finished", "forgotten"),
    ("wanted", "queued", "given_up", "wanted", "given", "finished"),
    ("wanted", "queued", "given_up", "forgotten", *PLAIN),
    ("wanted", "queued", "given_up", "forgotten"),
    (*PLAIN, "released", "wanted", "queued", "given_up", "forgotten"),
    ("wanted", "given", "erred"),
    ("wanted", "queued", "given", "stolen", "finished"),
    ("wanted", "queued", "refused", "wanted", "given", "finished"),
    ("wanted", "given", "input lost", "wanted", "given", "finished"),
    ("finished", "forgotten"),
    (*PLAIN, *PLAIN, "forgotten"),
    (*PLAIN, "forgotten", *PLAIN, "released", "forgotten"),
    (*PLAIN, "forgotten", "wanted", "queued", "given_up", "forgotten"),
)


class Scheduler:
    """Dask's own task states, and what makes the scheduler's transitions of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.worker = SimpleNamespace(address=ADDRESS)
        self.tasks: dict[str, TaskState] = {}
        self.workers = {ADDRESS: self.worker}
        self._group = TaskGroup("f-1", TaskPrefix("f"))
        self._group.span_id = None
        self._runs = iter(range(1, 1000))
        self._moments = iter(range(1000))
        monkeypatch.setattr(module, "time", lambda: float(next(self._moments)))
        self.failures: list[Any] = []
        self.probe = Tasks(self, 10_000, lambda *failure: self.failures.append(failure))
        self.probe.worker(ADDRESS, "first")

    def add(self, key: str, needs: Sequence[str] = ()) -> TaskState:
        state = self.tasks.get(key)
        if state is None:
            state = self.tasks[key] = TaskState(key, None, "released", self._group, False)
            state.priority = (0, 1, len(self.tasks))
            state.run_id = next(self._runs)
            for other in needs:
                if other in self.tasks:
                    state.add_dependency(self.tasks[other])
        return state

    def move(self, key: str, step: str) -> None:
        state, hook = self.add(key), self.probe.transition
        if step == "wanted":
            hook(key, "released", "waiting", stimulus_id="update-graph-1")
        elif step == "queued":
            hook(key, "waiting", "queued", stimulus_id="update-graph-1")
        elif step == "given_up":
            hook(key, "queued", "released", stimulus_id="client-releases-1")
        elif step == "given":
            state.processing_on = self.worker  # type: ignore[assignment]
            state.run_id = next(self._runs)
            hook(key, "queued", "processing", stimulus_id="task-finished-1")
        elif step == "refused":
            hook(key, "queued", "erred", stimulus_id="check-no-workers-1", exception=b"", cause=key)
        elif step == "input lost":
            state.processing_on = None
            hook(key, "processing", "released", stimulus_id="handle-worker-cleanup-1")
        elif step == "stolen":
            state.run_id = next(self._runs)
            self.probe.stolen(key, ADDRESS)
        elif step == "released":
            hook(key, "memory", "released", stimulus_id="handle-worker-cleanup-1")
        elif step in ("finished", "finished untold"):
            state.nbytes = 28
            compute = {"action": "compute", "start": 1.0, "stop": 2.0}
            read = {"action": "disk-read", "start": 0.5, "stop": 1.0}
            hook(
                *(key, "processing", "memory"),
                stimulus_id="task-finished-1",
                **{"worker": ADDRESS, "nbytes": 28, "typename": "int", "thread": 7},
                startstops=[read, compute] if step == "finished" else [],
            )
        elif step == "rescheduled":
            hook(key, "processing", "released", stimulus_id="reschedule-1", worker=ADDRESS)
        elif step == "erred":
            hook(
                *(key, "processing", "erred"),
                stimulus_id="task-erred-1",
                **{"worker": ADDRESS, "exception_text": "no", "traceback_text": "", "startstops": ()},
            )
        elif step == "forgotten":
            hook(key, "released", "forgotten", stimulus_id="client-releases-1")
            # As Dask does, just after it has told its plugins.
            state.dependencies.clear()
            del self.tasks[key]

    def told(self) -> dict[str, list[Any]]:
        """All rows, tasks by key in place of numbers."""
        self.probe.settle()
        assert not self.failures
        graph = self.probe.graph
        seen = list(graph.keys.take(0, 1000)[2])
        # A task that has the key of one before it is another.
        keys = [key + "'" * seen[:place].count(key) for place, key in enumerate(seen)]
        packed = {"attempts": self.probe.attempts, "phases": self.probe.phases, "edges": graph.edges}
        found = {name: rows(name, bytes(table.take(0, 1000)[2])) for name, table in packed.items()}
        attempts = found["attempts"].tolist()
        return {
            "graph": sorted(keys),
            "edges": [(keys[task], keys[other]) for task, other in found["edges"].tolist()],
            "attempts": [(run, keys[task], *map(repr, rest)) for run, task, *rest in attempts],
            "phases": found["phases"].tolist(),
        }


@pytest.fixture(params=[None, 2], ids=["", "crowded"])
def patched(request: pytest.FixtureRequest) -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        if request.param:
            for most in ("_CROWDED", "_FULL"):
                monkeypatch.setattr(f"dask_insight.probe.graph.{most}", request.param)
        yield monkeypatch


def played(steps: Sequence[tuple[str, str, bool]], always: bool = False) -> dict[str, list[Any]]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        scheduler = Scheduler(monkeypatch)
        for key, step, settle in steps:
            scheduler.add(key, KEYS[: KEYS.index(key)])
            scheduler.move(key, step)
            if settle or always:
                scheduler.probe.settle()
        return scheduler.told()


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, str, bool]]:
    """The lives of some tasks, mixed, with moments at which somebody has the notes settled."""
    lives = {key: list(draw(st.sampled_from(LIVES))) for key in KEYS}
    steps: list[tuple[str, str, bool]] = []
    while any(lives.values()):
        key = draw(st.sampled_from([key for key, life in lives.items() if life]))
        steps.append((key, lives[key].pop(0), draw(st.booleans())))
    return steps


@given(histories())
def test_rows_do_not_depend_on_when_notes_are_settled(steps: list[tuple[str, str, bool]]) -> None:
    assert played(steps) == played(steps, always=True)


def test_a_key_that_is_wanted_again_is_another_task_of_another_submission(
    patched: pytest.MonkeyPatch,
) -> None:
    scheduler = Scheduler(patched)
    for _ in range(2):
        scheduler.add("a")
        scheduler.probe.submitted("client", ["a"], 1, {})
        for step in (*PLAIN, "forgotten"):
            scheduler.move("a", step)
    told = scheduler.told()
    assert told["graph"] == ["a", "a'"] and [row[1] for row in told["attempts"]] == ["a", "a'"]
    graph = rows("graph", bytes(scheduler.probe.graph.rows.take(0, 10)[2]))
    assert graph["submission"].tolist() == [0, 1]


def test_a_later_reader_is_told_of_a_task_that_is_forgotten_before(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    graph = scheduler.probe.graph
    scheduler.add("a")
    scheduler.add("b", ["a"])
    for key in ("a", "b"):
        for step in ("wanted", "given"):
            scheduler.move(key, step)
    scheduler.probe.settle()
    keys, below = graph.again()
    assert keys == ["b", "a"]
    for key in ("b", "a"):
        for step in ("finished", "released", "forgotten"):
            scheduler.move(key, step)
    scheduler.move("a", "wanted")
    scheduler.probe.settle()
    told = [graph.describe(key, below) for key in keys]
    found = rows("graph", b"".join(each[0] for each in told if each))
    assert found["task"].tolist() == [graph.find("b"), 0]
    assert graph.find("a") >= below, "the one that came later is not told again"
    assert rows("edges", told[0][1] if told[0] else b"").tolist() == [(1, 0)]
    graph.all_told()
    assert graph.describe("b", below) is None


def test_attempts_that_run_when_somebody_begins_to_look_are_taken_up(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.worker.processing = {}
    scheduler.workers = {ADDRESS: scheduler.worker}
    for key in ("ends", "is retried"):
        state = scheduler.add(key)
        state.processing_on = scheduler.worker
        state.state = "processing"
        scheduler.worker.processing[state] = 0.5
    for _ in scheduler.probe.there():
        pass
    scheduler.move("ends", "finished")
    scheduler.move("ends", "forgotten")
    scheduler.move("is retried", "rescheduled")
    (done, again) = scheduler.told()["attempts"]
    assert done[1:5] == ("ends", "1", "7", "0") and again[1] == "is retried"
    assert int(again[4]) == module.STATUSES.index("rescheduled")


def test_what_a_forgotten_task_needed_is_known(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.add("a")
    scheduler.add("b", ["a"])
    for key in ("a", "b"):
        for step in ("wanted", "given", "finished", "forgotten"):
            scheduler.move(key, step)
    told = scheduler.told()
    assert told["edges"] == [("b", "a")]
    assert [row[1] for row in told["attempts"]] == ["a", "b"]


def test_an_attempt_belongs_to_the_worker_that_had_the_address_then(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.move("a", "wanted")
    scheduler.move("a", "given")
    scheduler.probe.worker(ADDRESS, "second")
    scheduler.move("b", "wanted")
    scheduler.move("b", "given")
    for key in ("a", "b"):
        scheduler.move(key, "finished")
    scheduler.probe.settle()
    workers = list(scheduler.probe.workers.codes)
    found = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert [workers[code] for code in found["worker"]] == ["first", "second"]


def test_a_task_that_waited_for_a_worker_tells_since_when(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in PLAIN:
        scheduler.move("a", step)
    scheduler.probe.settle()
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert found["status"] == module.QUEUED
    assert found["ready"] < found["assigned"] < found["done"]
    assert (found["start"], found["stop"]) == (1, 2)


def test_a_wait_that_was_given_up_is_none_of_the_next_attempt(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "queued", "given_up", "wanted", "given", "finished"):
        scheduler.move("a", step)
    scheduler.probe.settle()
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert found["status"] == 0 and found["ready"] == found["assigned"]


def test_a_task_for_which_no_worker_came_has_failed(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "queued", "refused", "wanted", "given", "finished"):
        scheduler.move("a", step)
    scheduler.probe.settle()
    failed, again = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert module.STATUSES[failed["status"]] == "erred" and failed["run"] == NOTHING
    assert failed["ready"] < failed["done"] and math.isnan(failed["assigned"])
    assert again["ready"] == again["assigned"], "that wait is none of the next attempt"
    ((run, task, text, _),) = scheduler.probe.errors.take(0, 10)[2]
    assert (run, task) == (NOTHING, failed["task"]) and "no-workers-timeout" in text


def test_inputs_that_no_worker_has_room_for_are_one_failure(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "queued"):
        scheduler.move("a", step)
    # Dask refuses within the transition that was to place it.
    told = {"exception": b"pickled", "cause": "a", "worker": ADDRESS}
    scheduler.tasks["a"].exception_blame = scheduler.tasks["a"]
    scheduler.probe.transition("a", "processing", "erred", stimulus_id="task-finished-1", **told)
    scheduler.probe.transition("a", "queued", "erred", stimulus_id="task-finished-1")
    scheduler.probe.settle()
    (failed,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert module.STATUSES[failed["status"] - module.QUEUED] == "erred" and failed["ready"] < failed["done"]
    ((_, _, text, _),) = scheduler.probe.errors.take(0, 10)[2]
    assert "larger than the memory limit" in text


def test_a_task_that_fails_by_the_loss_of_an_actor_is_given_up(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.add("b", ["a"]).exception_blame = scheduler.add("a")
    for step in ("wanted", "queued"):
        scheduler.move("b", step)
    scheduler.probe.transition("b", "queued", "erred", stimulus_id="handle-worker-cleanup-1")
    scheduler.probe.settle()
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert module.STATUSES[found["status"]] == "cancelled" and not scheduler.probe.errors.take(0, 10)[2]


@pytest.mark.parametrize("stimulus", ["handle-worker-cleanup-1", "check-worker-ttl-1", "nanny-close-1"])
@pytest.mark.parametrize(("wanted", "status"), [(True, "rescheduled"), (False, "cancelled")])
def test_an_attempt_whose_input_was_lost_is_made_again(
    patched: pytest.MonkeyPatch, wanted: bool, status: str, stimulus: str
) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "given"):
        scheduler.move("a", step)
    scheduler.tasks["a"].who_wants = {"client"} if wanted else set()  # type: ignore[arg-type]
    scheduler.tasks["a"].processing_on = None
    scheduler.probe.transition("a", "processing", "released", stimulus_id=stimulus)
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert module.STATUSES[found["status"]] == status


def test_a_result_that_was_lost_and_not_wanted_any_more_was_given_up_by_nobody(
    patched: pytest.MonkeyPatch,
) -> None:
    scheduler = Scheduler(patched)
    for step in (*PLAIN, "released", "wanted", "queued", "given_up", "forgotten"):
        scheduler.move("a", step)
    scheduler.probe.settle()
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert found["status"] == module.QUEUED and found["stop"] == 2
    (released,) = rows("releases", bytes(scheduler.probe.releases.take(0, 10)[2]))
    assert released["task"] == found["task"] and released["time"] > found["done"]


def test_a_task_given_up_while_it_waited_ends_without_a_worker(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "queued", "given_up"):
        scheduler.move("a", step)
    scheduler.probe.settle()
    assert not scheduler.probe.attempts.take(0, 10)[2], "it may be wanted again"
    scheduler.move("a", "forgotten")
    (found,) = scheduler.told()["attempts"]
    run, key, worker, thread, status, *_, began, assigned, ready, _size = found
    assert (run, key, worker, thread) == (NOTHING, "a", "0", "0")
    assert int(status) == module.STATUSES.index("cancelled")
    assert (began, assigned, ready) == ("nan", "nan", "nan")


def test_a_task_that_ran_before_anybody_looked_has_an_attempt_without_its_past(
    patched: pytest.MonkeyPatch,
) -> None:
    scheduler = Scheduler(patched)
    run = scheduler.add("a").run_id
    scheduler.move("a", "finished")
    scheduler.move("a", "forgotten")
    scheduler.probe.settle()
    (found,) = rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))
    assert found["run"] == run and found["task"] != NOTHING
    assert math.isnan(found["assigned"]) and math.isnan(found["ready"])


def test_a_submission_brings_what_is_wanted_after_it_and_nothing_else(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for key, state in (("running", "processing"), ("there", "memory"), ("needed", "released")):
        scheduler.add(key).state = state
    scheduler.add("wanted", ["there", "running", "needed"])
    for key in ("ran before", "waited before"):
        scheduler.add(key)
    scheduler.probe.submitted("client", ["wanted"], 2, {})
    scheduler.move("wanted", "wanted")
    scheduler.probe.settle()
    for key, step in (
        *(("running", "finished"), ("ran before", "finished"), ("waited before", "given")),
        *(("waited before", "finished"), ("needed", "wanted")),
    ):
        scheduler.move(key, step)
    scheduler.probe.settle()
    keys = scheduler.probe.graph.keys.take(0, 10)[2]
    graph = rows("graph", bytes(scheduler.probe.graph.rows.take(0, 10)[2]))
    brought = {key for key, row in zip(keys, graph, strict=True) if row["submission"] != NOTHING}
    assert brought == {"wanted", "needed"} and len(keys) == 6
    unranked = {key for key, row in zip(keys, graph, strict=True) if row["order"] == NOTHING}
    assert unranked == {"there"}, "only what never runs has no rank"


def test_a_later_reader_ranks_only_what_is_still_to_run(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    states = ("waiting", "queued", "no-worker", "processing", "memory", "erred", "released")
    for state in states:
        scheduler.move(state, "wanted")
        scheduler.tasks[state].state = state
    scheduler.probe.settle()
    described = [scheduler.probe.graph.describe(state, NOTHING) for state in states]
    graph = rows("graph", b"".join(each[0] for each in described if each))
    ranked = [state for state, row in zip(states, graph, strict=True) if row["order"] != NOTHING]
    assert ranked == ["waiting", "queued", "no-worker", "processing"]


def _there(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """A scheduler with tasks of which some have ended; nobody has looked so far."""
    scheduler = Scheduler(monkeypatch)
    ended = {"done": ("memory", 28), "freed": ("released", 28), "failed": ("erred", -1)}
    open_ = {"waits": ("waiting", -1), "runs": ("processing", -1), "not asked for": ("released", -1)}
    for key, (state, nbytes) in {**ended, "brought": ("memory", 28), **open_}.items():
        task = scheduler.add(key, ["done", "freed"] if key == "runs" else ["later"])
        task.state, task.nbytes, task.run_spec = state, nbytes, None if key == "brought" else object()
    scheduler.tasks["waits"].add_dependency(scheduler.tasks["runs"])
    return scheduler


def test_tasks_that_were_there_before_are_numbered_once_with_how_they_ended(
    patched: pytest.MonkeyPatch,
) -> None:
    scheduler = _there(patched)
    graph = scheduler.probe.graph
    for _ in range(2):
        for _ in graph.there():
            pass
    keys = graph.keys.take(0, 100)[2]
    found = dict(zip(keys, rows("graph", bytes(graph.rows.take(0, 100)[2])), strict=True))
    assert len(keys) == len(scheduler.tasks) and keys[:2] == ["waits", "runs"], "what is to run comes first"
    assert {key for key, row in found.items() if row["order"] != NOTHING} == {"waits", "runs"}
    states = {key: STATES[row["state"]] for key, row in found.items()}
    assert {key for key, state in states.items() if state == "memory"} == {"done", "freed"}
    assert {key for key, state in states.items() if state == "erred"} == {"failed"}
    assert sorted(scheduler.told()["edges"]) == [("runs", "done"), ("runs", "freed"), ("waits", "runs")]
    described = rows("graph", b"".join((graph.describe(key, NOTHING) or (b"",))[0] for key in keys))
    assert [STATES[row["state"]] for row in described] == [states[key] for key in keys]


def test_what_the_scheduler_does_while_tasks_are_numbered_is_told_once(patched: pytest.MonkeyPatch) -> None:
    scheduler = _there(patched)
    steps = scheduler.probe.graph.there()
    next(steps)
    for key, step in (("runs", "finished"), ("new", "wanted"), ("done", "released"), ("done", "forgotten")):
        scheduler.move(key, step)
    scheduler.probe.settle()
    for _ in steps:
        pass
    told = scheduler.told()
    assert len(set(told["graph"])) == len(told["graph"])
    assert {"waits", "runs", "new", "freed"} <= set(told["graph"])
    assert len(set(told["edges"])) == len(told["edges"]) and ("waits", "runs") in told["edges"]
    assert [row[1] for row in told["attempts"]] == ["runs"]


def test_a_key_that_is_forgotten_twice_has_the_id_of_its_last_task(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    graph = scheduler.probe.graph
    found = []
    for name in ("again", "other", "another", "again"):
        for step in ("wanted", "given", "finished"):
            scheduler.move(name, step)
        scheduler.probe.settle()
        found.append(graph.find(name))
        for step in ("released", "forgotten"):
            scheduler.move(name, step)
        scheduler.probe.settle()
    assert found == [0, 1, 2, 3] and graph.find("again") == 3
    scheduler.probe.forget(1, 0)
    assert graph.find("again") == 3
    scheduler.probe.forget(1, 0)
    assert graph.find("again") == 3


def test_tasks_that_were_there_are_numbered_in_steps_that_the_scheduler_can_stop_after(
    patched: pytest.MonkeyPatch,
) -> None:
    """Also those that need nothing."""
    scheduler = Scheduler(patched)
    for number in range(10):
        scheduler.add(f"task-{number}", [])
    written = [scheduler.probe.graph.rows.end for _ in scheduler.probe.graph.there()]
    assert len(written) > 3 * 10 and written[-1] == 10


def test_ids_that_are_left_of_many_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that is held of each of many graphs does not keep the room of all tasks of these graphs."""
    monkeypatch.setattr("dask_insight.probe.graph._CROWDED", 16)
    scheduler = Scheduler(monkeypatch)
    graph = scheduler.probe.graph
    kept = []
    for first in range(0, 80, 16):
        names = [f"task-{number}" for number in range(first, first + 16)]
        for step in ("wanted", "given", "finished"):
            for name in names:
                scheduler.move(name, step)
        scheduler.probe.settle()
        kept.append((names[0], graph.find(names[0])))
        for step in ("released", "forgotten"):
            for name in names[1:]:
                scheduler.move(name, step)
    for _ in range(5):
        scheduler.probe.forget(100, 0)
    assert len(graph._crowded) <= 1 < len(kept)
    assert [(name, graph.find(name)) for name, _ in kept] == kept
    assert graph.again()[0] == [name for name, _ in reversed(kept)]


def test_a_task_of_whose_phases_nothing_is_told_has_none(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    for step in ("wanted", "given", "finished untold"):
        scheduler.move("a", step)
    told = scheduler.told()
    assert len(told["attempts"]) == 1
    assert told["phases"] == []


def test_a_graph_that_cannot_be_numbered_keeps_no_attempt_back(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.move("a", "wanted")
    scheduler.probe.settle()
    scheduler.move("c", "wanted")
    scheduler.add("b").group = None  # type: ignore[assignment]
    scheduler.move("b", "wanted")
    scheduler.move("a", "given")
    scheduler.move("a", "finished")
    scheduler.probe.settle()
    ((where, _),) = scheduler.failures
    assert where == "graph"
    assert len(rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))) == 1
    graph = scheduler.probe.graph
    assert graph.keys.take(0, 10)[2] == ["a", "c"] and graph.rows.end == 2


def test_a_note_that_cannot_be_settled_is_told_and_keeps_no_other_back(patched: pytest.MonkeyPatch) -> None:
    scheduler = Scheduler(patched)
    scheduler.move("a", "wanted")
    scheduler.move("a", "given")
    scheduler.probe.transition("a", "processing", "memory", stimulus_id="task-finished-1", worker=ADDRESS)
    for step in PLAIN:
        scheduler.move("b", step)
    scheduler.probe.settle()
    ((where, error),) = scheduler.failures
    assert where == "transition" and isinstance(error, KeyError)
    assert len(rows("attempts", bytes(scheduler.probe.attempts.take(0, 10)[2]))) == 1
