"""``%%dprofile --compare NAME`` shows what differs from a run that is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from test_magic import ADD, COMPUTED, Cell, Shown, recorded
from test_notebook_outputs import data_of

import dask_insight
from dask_insight.columns import length
from dask_insight.hosts import magic
from dask_insight.hosts.notebook import MIME

SLOW = "import time\nslow = dask.delayed(lambda n: time.sleep(n), name='slow')\n"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A shell with the magics, and a run called `first`."""
    made = InteractiveShell()
    made.display_pub = Shown()
    made.colors = "nocolor"
    magic.register(made)
    dask_insight.runs.clear()
    made.run_cell(ADD)
    made.run_cell(SLOW)
    Cell(made, f"%%dprofile first\n{COMPUTED}")
    yield made
    magic.unregister(made)
    dask_insight.runs.clear()


def test_the_comparison_stands_under_the_cell(shell: InteractiveShell) -> None:
    cell = Cell(shell, "%%dprofile second --compare first\nslow(0.3).compute(scheduler='sync')")
    [shown] = cell.shown
    assert "second took" in shown["text/plain"] and "first with" in shown["text/plain"]
    assert "<b>Comparison</b>" in shown["text/html"] and "Task names" in shown["text/html"]
    assert any("first with" in note for note in shown[MIME]["notes"])
    assert not length(recorded(shell).columns("compared_sides")), "the recording itself stays what it is"
    assert recorded(shell).summary().tasks == 1


def test_the_report_has_both(shell: InteractiveShell, tmp_path: Path) -> None:
    path = tmp_path / "both.html"
    Cell(shell, f"%%dprofile second --compare first --html {path}\n{COMPUTED}")
    both = data_of(path.read_text(encoding="utf-8"))
    assert length(both.columns("compared_names")) and length(both.columns("attempts"))
    assert length(both.columns("budget")) and both.about["name"] == "second"


def test_static_forms_too(shell: InteractiveShell) -> None:
    cell = Cell(shell, f"%%dprofile second --static --compare first\n{COMPUTED}")
    markdown = cell.shown[-1]["text/markdown"]
    assert "### Comparison: first and second" in markdown and "| Task name |" in markdown


def test_a_run_can_be_compared_with_the_one_it_replaces(shell: InteractiveShell) -> None:
    cell = Cell(shell, f"%%dprofile first --compare first\n{COMPUTED}")
    assert "first before" in cell.text and list(dask_insight.runs) == ["first"]


def test_on_a_line(shell: InteractiveShell) -> None:
    cell = Cell(shell, f"%dprofile --name again --compare first {COMPUTED}")
    assert cell.value == 3 and "Runs" in cell.text and "again" in cell.text


def test_names_with_spaces_take_quotes(shell: InteractiveShell) -> None:
    dask_insight.runs.keep("my run", dask_insight.runs["first"])
    cell = Cell(shell, f"%%dprofile second --compare 'my run'\n{COMPUTED}")
    assert "my run" in cell.text
    cell = Cell(shell, f"%dprofile --compare 'my run' {COMPUTED}")
    assert cell.value == 3 and "my run" in cell.text


@pytest.mark.parametrize("line", ["%%dprofile x --compare nobody\n", "%dprofile --compare nobody "])
def test_an_unknown_name_is_refused_before_anything_runs(shell: InteractiveShell, line: str) -> None:
    cell = Cell(shell, f"{line}ran = 1")
    assert isinstance(cell.error, UsageError)
    assert "--compare: no run 'nobody'; there are 'first'" in str(cell.error)
    assert "See %" in str(cell.error) and "ran" not in shell.user_ns
