"""A recording that is begun in a notebook knows its cells, also without the extension."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest

import dask_insight
from dask_insight.hosts.magic.profiler import profiler_of
from dask_insight.session.cells import Cells

nbformat = pytest.importorskip("nbformat")
NotebookClient = pytest.importorskip("nbclient").NotebookClient

BEGIN = """
import json, dask, dask_insight
def callbacks():
    return {name: len(found) for name, found in get_ipython().events.callbacks.items()}
before = callbacks()
session = dask_insight.record()
run = session.start()
"""
END = """
session.stop()
cells, submissions = run.columns("cells"), run.submissions
print(json.dumps({
    "execution": cells["execution"].tolist(),
    "status": cells["status"].tolist(),
    "code": cells["code"].tolist(),
    "order": [cells[name].tolist() for name in ("start", "stop")],
    "table": run.cells["status"].tolist(),
    "submissions": submissions["execution"].tolist(),
    "left": callbacks() == before,
}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a real kernel says of its recording."""
    code = [BEGIN, "dask.delayed(abs)(-3).compute(scheduler='sync')", "1 / 0", END]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in code])
    folder = tmp_path_factory.mktemp("notebook")
    NotebookClient(book, timeout=120, allow_errors=True, resources={"metadata": {"path": folder}}).execute()
    found: dict[str, Any] = json.loads(book.cells[-1].outputs[-1].text)
    return found


def test_each_cell_is_noted_when_it_begins_and_when_it_ends(told: dict[str, Any]) -> None:
    assert told["execution"] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert told["status"][::2] == ["running"] * 4
    assert told["status"][1::2] == ["ok", "ok", "error", "ok"]
    assert told["table"] == told["status"][1::2], "a cell has one row of a table"
    assert told["code"][5] == "1 / 0"
    start, stop = told["order"]
    moments = [each for pair in zip(start[1::2], stop[1::2], strict=True) for each in pair]
    assert moments == sorted(moments)


def test_what_is_submitted_names_its_cell(told: dict[str, Any]) -> None:
    assert told["submissions"] == [2]


def test_ipython_is_left_as_it_was(told: dict[str, Any]) -> None:
    assert told["left"]


def test_of_cells_beside_each_other_the_first_is_told_of() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    told: list[tuple[str, str]] = []

    class Listener:
        def cell(self, execution: int, cell: str, code: str, start: float, stop: float, status: str) -> None:
            told.append((cell, status))

    def run(cell: str, meanwhile: Callable[[], None]) -> None:
        info = SimpleNamespace(store_history=True, cell_id=cell, raw_cell=cell)
        shell.events.trigger("pre_run_cell", info)
        meanwhile()
        shell.events.trigger("post_run_cell", SimpleNamespace(info=info, success=True))

    def beside(cell: str) -> None:
        thread = threading.Thread(target=run, args=(cell, lambda: None))
        thread.start()
        thread.join(30)

    def request() -> dict[str, Any]:
        return {"header": {"msg_id": str(threading.get_ident()), "msg_type": asked}}

    asked = ""
    shell = InteractiveShell()
    began: list[None] = []
    ended: list[None] = []
    shell.get_parent = request
    cells = Cells(shell, Listener(), lambda: began.append(None), lambda: ended.append(None))
    asked = "execute_request"
    run("first", lambda: beside("second"))
    assert told == [("first", "running"), ("first", "ok")] and len(began) == len(ended) == 1
    beside("third")
    run("fourth", lambda: None)
    assert told[2:] == [(cell, status) for cell in ("third", "fourth") for status in ("running", "ok")]
    cells.close()


def test_a_cell_that_answers_a_page_and_runs_something_for_it_goes_on() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    told: list[str] = []
    listener = SimpleNamespace(cell=lambda *row: told.append(row[-1]))
    shell, asked = InteractiveShell(), {"msg_id": "1", "msg_type": "execute_request"}
    headers: list[dict[str, str]] = [{}]
    shell.get_parent = lambda: {"header": headers[-1]}
    cells = Cells(shell, listener, lambda: None, lambda: None)
    headers.append(asked)
    info = SimpleNamespace(store_history=True, cell_id="outer", raw_cell="outer")
    shell.events.trigger("pre_run_cell", info)
    # As a widget's callback does under jupyter_ui_poll, and then the cell itself.
    for header in ({"msg_id": "2", "msg_type": "comm_msg"}, asked):
        headers.append(header)
        shell.run_cell("1", store_history=False)
        assert told == ["running"]
    shell.events.trigger("post_run_cell", SimpleNamespace(info=info, success=True))
    assert told == ["running", "ok"]
    cells.close()


def test_a_cell_that_has_other_cells_run_within_it_goes_on_until_it_ends() -> None:
    """As one that has its kernel answer requests: ``kernel.do_one_iteration()``."""
    from IPython.core.interactiveshell import InteractiveShell

    told: list[tuple[str, str]] = []
    listener = SimpleNamespace(cell=lambda *row: told.append((row[2], row[-1])))
    shell, asked = InteractiveShell(), "1"
    cells = Cells(shell, listener, lambda: None, lambda: None)
    shell.get_parent = lambda: {"header": {"msg_id": asked, "msg_type": "execute_request"}}

    def answer() -> None:
        nonlocal asked
        asked = "2"
        shell.run_cell("1", store_history=True)
        assert told == [("answer()", "running")]

    shell.user_ns["answer"] = answer
    shell.run_cell("answer()", store_history=True)
    assert told == [("answer()", "running"), ("answer()", "ok")]
    cells.close()


@pytest.mark.parametrize("told", [{"header": None}, {}, None, "nothing"])
def test_a_kernel_that_tells_of_its_message_in_another_way_costs_no_cell(told: Any) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    begun: list[str] = []
    shell = InteractiveShell()
    shell.get_parent = lambda: told
    listener = SimpleNamespace(cell=lambda *row: begun.append(row[-1]))
    cells = Cells(shell, listener, lambda: None, lambda: None)
    profiler_of(shell).pre_run_cell(SimpleNamespace(store_history=True))
    shell.run_cell("1", store_history=True)
    assert begun == ["running", "ok"]
    cells.close()


def test_a_kernel_that_is_not_ipykernels_is_recorded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython
    from IPython.core.interactiveshell import InteractiveShell

    class Kernel:
        def get_parent(self) -> dict[str, Any]:
            return {}

    shell = InteractiveShell()
    shell.kernel = Kernel()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    with dask_insight.record() as run:
        shell.run_cell("1 + 1", store_history=True)
    assert run.cells["code"].tolist() == ["1 + 1"]


def test_a_shell_that_tells_of_no_cells_is_recorded_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython

    # As that of xeus-python is in its raw mode.
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    with dask_insight.record() as run:
        dask.delayed(abs)(-3).compute(scheduler="sync")
    assert run.summary().tasks == 1 and not len(run.cells)


def test_ipython_is_not_imported(tmp_path: Path) -> None:
    code = (
        "import sys, dask, dask_insight\n"
        "with dask_insight.record() as run:\n"
        "    dask.delayed(abs)(-3).compute(scheduler='sync')\n"
        "assert 'IPython' not in sys.modules and not len(run.cells)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, timeout=120)
