"""What Dask, ipykernel, Python, NumPy and pandas have had otherwise, or may have, costs no recording."""

from __future__ import annotations

import linecache
import os
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import pytest
from conftest import Batches, recorded, wait_for

import dask_insight
from dask_insight.batch import Symbols
from dask_insight.hosts.lab.status import Status
from dask_insight.hosts.magic.cell import awaits
from dask_insight.hosts.widget.outputs import requested_cell
from dask_insight.lookup import narrowed, pick
from dask_insight.sources.cluster.callers import Caller, watch
from dask_insight.sources.cluster.submissions import Submissions
from dask_insight.sources.dynamic import _holds
from dask_insight.sources.local.sizes import size_of

_ESCAPED = 'import re\n\n\ndef parts(text):\n    return re.findall("\\d+", text)\n'


def _asked_elsewhere(*_: str) -> NoReturn:
    """As a kernel of ipykernel 7.0.0 answers threads of the person's own."""
    raise LookupError("shell_parent")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    """One whose kernel knows no message."""
    import IPython
    from ipykernel.kernelbase import Kernel
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.kernel = Kernel.__new__(Kernel)
    monkeypatch.setattr(Kernel, "get_parent", _asked_elsewhere)
    monkeypatch.setattr(shell, "get_parent", _asked_elsewhere, raising=False)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    return shell


def test_a_thread_records_although_its_kernel_knows_no_message_of_it(shell: Any) -> None:
    with dask_insight.record() as run:
        shell.run_cell("1 + 1", store_history=True)
    assert run.cells["code"].tolist() == ["1 + 1"]


def test_a_cell_that_answers_no_message_is_nobodys_and_leaves_the_kernel_idle(shell: Any) -> None:
    assert requested_cell(shell) == ""
    status = Status(shell)
    status.began()
    status.disturbed()
    assert status.tick().again is None


@pytest.mark.parametrize(
    "sizes", [{"expr_ser": SimpleNamespace(frames=[b"x" * 10])}, {"graph_frames": [b"x" * 10]}]
)
def test_a_graph_has_its_size_whichever_dask_sends_it(sizes: dict[str, Any]) -> None:
    sent: list[tuple[Any, ...]] = []
    callers: list[Caller] = []

    class Client:
        def _send_to_scheduler(self, *message: Any, **options: Any) -> None:
            sent.append((*message, options))

    client: Any = Client()
    unwatch = watch(client, lambda keys, caller: callers.append(caller))
    message = {"op": "update-graph", "keys": {"a"}, **sizes}
    client._send_to_scheduler(message, "more", than="now")
    unwatch()
    assert [caller.nbytes for caller in callers] == [10]
    assert sent == [(message, "more", {"than": "now"})], "it is sent as it was"


def test_that_no_graph_has_a_size_is_told_once() -> None:
    told: list[str] = []
    submissions = Submissions(Batches(), lost=told.append)
    for submission, key in enumerate("abc"):
        submissions.add(submission, {"key": key, "time": 0.0, "tasks": 1, "client": "c"})
    submissions.called(["b"], Caller("a.py", 1, "f", "", nbytes=10.0))
    submissions.settle(final=True)
    assert not told
    for submission, key in enumerate("de", 3):
        submissions.called([key], Caller("a.py", 1, "f", ""))
        submissions.add(submission, {"key": key, "time": 0.0, "tasks": 1, "client": "c"})
        submissions.settle(final=True)
    (words,) = told
    assert "how large graphs are" in words and "upgrade dask_insight" in words


def test_code_that_is_looked_at_warns_nobody() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert not awaits("x = 5\nx is 5\n") and awaits("x = 5\nx is await 5\n")
        assert not warned
        compile("x = 5\nx is 5\n", "<cell>", "exec")
        assert len(warned) == 1, "whoever runs it is told"


def test_what_python_shows_once_it_shows_once_although_code_is_looked_at() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("default")
        for _ in range(2):
            assert not awaits(_ESCAPED)
            warnings.warn("once", stacklevel=1)
    assert len(warned) == 1


def test_a_function_is_found_where_warnings_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "escaped.py"
    file.write_text(_ESCAPED + "\n\nx = 5\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _holds("parts", 5, str(file)) and not awaits(_ESCAPED)
    linecache.checkcache(str(file))


class Counter:
    """An actor."""

    def process(self) -> int:
        """Of its worker."""
        return os.getpid()


def test_an_actor_that_is_lost_with_its_worker_has_failed() -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
        recorded(client) as batches,
    ):
        counter = client.submit(Counter, actor=True, key="counter")
        os.kill(counter.result().process().result(), 9)
        wait_for(lambda: batches.table("errors"), "the actor's error")
    (error,) = batches.table("errors")
    assert error["exception"] == "RuntimeError: Worker holding Actor was lost"
    assert batches.keys()[error["task"]] == "counter"
    assert [row["status"] for row in batches.attempts("counter")] == ["ok", "erred"]
    assert len(batches.table("releases")) == 1


def test_tasks_that_dask_hands_over_otherwise_run_in_processes_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import dask.local

    def execute_task(
        key: Any, task_info: Any, dumps: Any, loads: Any, get_id: Any, pack_exception: Any, more: Any
    ) -> None: ...

    monkeypatch.setattr(dask.local, "execute_task", execute_task)
    with dask_insight.record() as run:
        assert dask.delayed(abs)(-3).compute(scheduler="processes", num_workers=1) == 3
    assert run.summary().tasks == 1
    assert any("not recorded here: when tasks of this pool ran" in each for each in run.events["message"])


@pytest.mark.parametrize("names", [1 << 8, 1 << 16])
def test_a_missing_text_is_none_of_as_many_as_codes_can_tell_apart(names: int) -> None:
    symbols = narrowed(Symbols(np.arange(names, dtype="u4"), [f"name {each}" for each in range(names)]))
    picked = pick(symbols, np.array([3, -1, 5]))
    assert [picked.names[code] for code in picked.codes] == ["name 3", "", "name 5"]


def test_text_of_pandas_without_pyarrow_has_its_size() -> None:
    import pandas as pd

    text = pd.Series(["x" * 100] * 1000, dtype=pd.StringDtype("python"))
    assert size_of(text) > 100_000
