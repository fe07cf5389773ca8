"""How far tasks are: a graph that comes when there is nothing to wait for begins a new count."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dask_insight.batch import encode
from dask_insight.schema import NOTHING
from dask_insight.session.tally import Tally


class Told:
    """A tally, and what it is told of tasks whose attempts have their numbers."""

    def __init__(self) -> None:
        self._tally = Tally(lambda batch: None)

    def graph(self, *tasks: int, order: int = 0) -> None:
        """These tasks are to run, unless their order is NOTHING."""
        rows = len(tasks)
        columns = {"task": tasks, "prefix": ["inc"] * rows, "order": [order] * rows}
        self._tally(encode("graph", columns))

    def end(self, status: str, *tasks: int, run: int | None = None) -> None:
        """Attempts have ended so."""
        runs = tasks if run is None else [run] * len(tasks)
        self._tally(encode("attempts", {"run": runs, "task": tasks, "status": [status] * len(tasks)}))

    def error(self, *runs: int) -> None:
        """Attempts have an error."""
        rows = len(runs)
        self._tally(encode("errors", {"run": runs, "task": runs, "exception": ["KilledWorker"] * rows}))

    @property
    def tasks(self) -> tuple[int, int, int]:
        """Total, done, failed."""
        told: dict[str, Any] = self._tally.state()["tasks"]
        return told["total"], told["done"], told["erred"]


@pytest.fixture
def told() -> Told:
    return Told()


def test_the_same_graph_once_more_is_counted_by_itself(told: Told) -> None:
    for first in (0, 200, 400):
        graph = range(first, first + 200)
        told.graph(*graph)
        assert told.tasks == (200, 0, 0)
        told.end("ok", *graph)
        assert told.tasks == (200, 200, 0), "it stays until another one comes"


def test_a_graph_that_comes_while_another_runs_is_counted_with_it(told: Told) -> None:
    told.graph(0, 1)
    told.end("ok", 0)
    told.graph(2)
    told.end("ok", 1, 2)
    assert told.tasks == (3, 3, 0)
    told.graph(3)
    assert told.tasks == (1, 0, 0)


@pytest.mark.parametrize(
    ("end", "failed"),
    [
        (lambda told: told.end("erred", 1), 1),
        (lambda told: (told.end("killed", 1), told.error(1)), 1),
        (lambda told: (told.error(1), told.end("killed", 1)), 1),
        (lambda told: told.end("cancelled", 1), 0),
        (lambda told: told.end("cancelled", 1, run=NOTHING), 0),
    ],
)
def test_for_what_has_failed_or_is_given_up_nobody_waits(
    told: Told, end: Callable[[Told], None], failed: int
) -> None:
    told.graph(0, 1)
    told.end("ok", 0)
    end(told)
    assert told.tasks == (2, 1, failed)
    told.graph(2)
    assert told.tasks == (1, 0, 0)


@pytest.mark.parametrize("status", ["stolen", "retried", "rescheduled", "killed"])
def test_what_will_run_again_is_waited_for(told: Told, status: str) -> None:
    told.graph(0)
    told.end(status, 0)
    told.graph(1)
    assert told.tasks == (2, 0, 0)


def test_data_that_a_client_brings_begin_no_count(told: Told) -> None:
    told.graph(0)
    told.end("ok", 0)
    told.graph(1, 2, order=NOTHING)
    assert told.tasks == (1, 1, 0)


def test_what_failed_before_and_is_made_again_counts_where_it_is_made(told: Told) -> None:
    told.graph(0, 1)
    told.end("erred", 0, 1)
    told.graph(2)
    told.end("ok", 0, 2)
    assert told.tasks == (2, 2, 0)
