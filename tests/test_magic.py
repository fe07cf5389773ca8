"""Cells that begin with ``%%dprofile`` run as they would without that line, and are recorded."""

from __future__ import annotations

import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.callbacks
import pytest
from conftest import left_on, wait_for
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from ipywidgets import Output

import dask_insight
from dask_insight.hosts import magic
from dask_insight.hosts.magic.arguments import parser, words_of
from dask_insight.hosts.magic.place import Place
from dask_insight.hosts.magic.profiler import profiler_of
from dask_insight.hosts.magic.progress import Progress
from dask_insight.hosts.magic.run import Run
from dask_insight.hosts.magic.span import quiet_span
from dask_insight.hosts.notebook import MIME
from dask_insight.options import OUTPUT_SIZE
from dask_insight.recording import Recording
from dask_insight.schema import TABLES
from dask_insight.session import Session
from dask_insight.words import size

ADD = "import dask\nadd = dask.delayed(lambda a, b: a + b)\n"
COMPUTED = "add(1, 2).compute(scheduler='sync')"


class Shown:
    """Takes what a shell displays beside values."""

    is_publishing = False

    def __init__(self) -> None:
        self.published: list[dict[str, Any]] = []

    def publish(self, data: dict[str, Any], *args: Any, **more: Any) -> None:
        """Keep it."""
        self.published.append({"data": data, **more})

    def clear_output(self, wait: bool = False) -> None:
        """Nothing is on a screen."""

    def set_display_pub(self, *_: Any) -> None:
        """Nothing to pass on to."""


def in_notebook(shell: InteractiveShell) -> None:
    """Let it be the shell of a kernel that a notebook has asked to run a cell."""
    shell.kernel = object()
    shell.get_parent = lambda: {"metadata": {"cellId": "a"}}


class Cell:
    """What a cell did."""

    def __init__(self, shell: InteractiveShell, code: str, **options: Any) -> None:
        before = len(shell.display_pub.published)
        with capture_output(display=False) as said:
            self.result = shell.run_cell(code, store_history=True, **options)
        self.out, self.err = said.stdout, said.stderr
        self.value = self.result.result
        self.error = self.result.error_in_exec
        self.shown = [each["data"] for each in shell.display_pub.published[before:]]

    @property
    def text(self) -> str:
        """What stands under it, as plain text."""
        return "\n".join(each.get("text/plain", "") for each in self.shown)


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    """A shell with the magics."""
    made = InteractiveShell()
    made.display_pub = Shown()
    made.colors = "nocolor"
    magic.register(made)
    dask_insight.runs.clear()
    made.run_cell(ADD)
    yield made
    magic.unregister(made)
    dask_insight.runs.clear()


def recorded(shell: InteractiveShell) -> Any:
    """The recording that the last cell left."""
    return shell.user_ns["_dprofile"]


def test_a_cell_gives_its_value_and_a_recording(shell: InteractiveShell) -> None:
    cell = Cell(shell, f"%%dprofile sums\nprint('hello')\n{COMPUTED}")
    assert cell.value == 3
    assert shell.user_ns["_"] == 3
    assert 3 in shell.user_ns["Out"].values()
    assert cell.out.startswith("hello\n")
    [shown] = cell.shown
    assert shown[MIME]["name"] == "sums"
    assert "<iframe" in shown["text/html"]
    assert recorded(shell).summary().tasks == 1
    assert dask_insight.runs["sums"] is recorded(shell)
    assert not any(name.startswith("dask_insight") for name in shell.user_ns)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("41 + 1", 42),
        ("41 + 1;", None),
        ("x = 5", None),
        ("x = 5\nx", 5),
        ("for i in range(3): i", None),
        ("\n\n  \n7", 7),
        ('"""text"""', "text"),
        ("from __future__ import annotations\n8", 8),
        ("if True:\n    9", None),
        ("%time y = 4\ny", 4),
        ("files = !echo one\nfiles[0]", "one"),
        ("import asyncio\nawait asyncio.sleep(0, 'waited')", "waited"),
        ("import asyncio\nawait asyncio.sleep(0)\nz = 6", None),
        ("from __future__ import annotations\nimport asyncio\nawait asyncio.sleep(0)\n5", 5),
        ("async def f():\n    return 3\n(await f()) * 2", 6),
        ("%%time\nw = 3", None),
    ],
)
def test_a_cell_is_what_it_is_without(shell: InteractiveShell, body: str, value: Any) -> None:
    plain, cell = Cell(shell, body), Cell(shell, f"%%dprofile\n{body}")
    assert (cell.value, cell.error) == (plain.value, plain.error)
    assert cell.value == value
    assert len(cell.shown) == len(plain.shown) + 1
    assert "No Dask computation ran here" in cell.text


@pytest.mark.parametrize("interactivity", ["all", "last", "last_expr", "last_expr_or_assign", "none"])
@pytest.mark.parametrize("awaits", ["", "await asyncio.sleep(0)\n"])
def test_what_is_displayed_follows_the_setting(
    shell: InteractiveShell, interactivity: str, awaits: str
) -> None:
    shell.ast_node_interactivity = interactivity
    body = f"import asyncio\n'one'\n{awaits}'two'\nname = 'three'"
    outs = [
        [line.partition(":")[2].strip() for line in cell.out.splitlines() if line.startswith("Out[")]
        for cell in (Cell(shell, body), Cell(shell, f"%%dprofile\n{body}"))
    ]
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    "body",
    [
        "def f():\n    return 1 / 0\n\nf()",
        "import asyncio\nawait asyncio.sleep(0)\n1 / 0",
        "raise KeyboardInterrupt",
        "import asyncio\nawait asyncio.sleep(0)\nraise KeyboardInterrupt",
        "raise SystemExit(3)",
        "add(1, 'a').compute(scheduler='sync')",
    ],
)
def test_an_error_is_the_same_without_frames_of_ours(shell: InteractiveShell, body: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, cell = Cell(shell, f"#\n{body}"), Cell(shell, f"%%dprofile failing\n{body}")
    assert type(cell.error) is type(plain.error)
    frames = [
        [(frame.name, frame.lineno) for frame in traceback.extract_tb(each.error.__traceback__)][1:]
        for each in (plain, cell)
    ]
    assert frames[0] == frames[1]
    assert str(Path(dask_insight.__file__).parent) not in cell.out
    assert "failing" in dask_insight.runs
    assert recorded(shell).about["stopped"] > 0


def test_a_syntax_error_is_told_as_ever_and_nothing_is_recorded(shell: InteractiveShell) -> None:
    cell = Cell(shell, "%%dprofile\nx = = 1")
    assert isinstance(cell.result.error_before_exec, SyntaxError)
    assert "2" in cell.out.splitlines()[0]
    assert "_dprofile" not in shell.user_ns


def test_names_of_a_cell_are_the_users(shell: InteractiveShell) -> None:
    Cell(shell, "old = gone = 1\ndel gone")
    Cell(shell, "%%dprofile\nnew = 2\ndel old\nglobal shared\nshared = 3\ndef f():\n    return new")
    assert (shell.user_ns["new"], shell.user_ns["shared"], shell.user_ns["f"]()) == (2, 3, 2)
    assert "old" not in shell.user_ns
    Cell(shell, "%%dprofile\nimport asyncio\nawait asyncio.sleep(0)\nlater = 4\ndel new")
    assert shell.user_ns["later"] == 4
    assert "new" not in shell.user_ns


def test_a_cell_within_a_cell_does_not_end_the_run(shell: InteractiveShell) -> None:
    Cell(shell, f"%%dprofile outer\nget_ipython().run_cell('1')\nafter = {COMPUTED}")
    assert shell.user_ns["after"] == 3
    assert dask_insight.runs["outer"].summary().tasks == 1


def test_an_empty_cell_within_a_cell_ends_nothing(shell: InteractiveShell) -> None:
    # IPython tells of its end alone.
    Cell(shell, f"%%dprofile outer\nget_ipython().run_cell(' ')\n{COMPUTED}")
    assert dask_insight.runs["outer"].summary().tasks == 1


def test_an_interrupt_while_a_run_ends_loses_it_not(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(session: Session) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "_keep_code", interrupted)
    Cell(shell, f"%%dprofile interrupted\n{COMPUTED}")
    run = dask_insight.runs["interrupted"]
    assert run is recorded(shell) and run.summary().tasks == 1
    assert "stopped" in run.about


def test_a_run_within_a_run(shell: InteractiveShell) -> None:
    inner = f"%%dprofile inner\\n{COMPUTED.replace(chr(39), chr(34))}"
    Cell(shell, f"%%dprofile outer\nget_ipython().run_cell('{inner}')\n{COMPUTED}")
    assert list(dask_insight.runs) == ["inner", "outer"]
    assert dask_insight.runs["inner"].summary().tasks == 1
    assert dask_insight.runs["outer"].summary().tasks == 2


def test_a_terminal_takes_more_than_the_first_line(shell: InteractiveShell) -> None:
    complete = shell.input_transformer_manager.check_complete
    assert complete("%%dprofile\na = 1\n")[0] == "incomplete"
    assert complete("%%dprofile\na = 1\n\n")[0] == "complete"


def test_other_magics_around_it(shell: InteractiveShell) -> None:
    assert Cell(shell, f"%%time\n%%dprofile timed\n{COMPUTED}").value == 3
    Cell(shell, f"%%capture got\n%%dprofile captured\nprint('quiet')\n{COMPUTED}")
    assert list(dask_insight.runs) == ["timed", "captured"]
    assert shell.user_ns["got"].stdout.startswith("quiet")


@pytest.mark.parametrize("around", ["", "%%capture got\n"])
def test_a_run_without_a_name_has_that_of_its_cell(shell: InteractiveShell, around: str) -> None:
    Cell(shell, f"{around}%%dprofile\n{COMPUTED}")
    assert list(dask_insight.runs) == [f"Cell {len(shell.history_manager.input_hist_parsed) - 1}"]


def test_paths_of_windows_keep_their_backslashes_and_quotes_hold_together() -> None:
    text = r"""'my run' -o "C:\my files\new.dinsight" --html C:\out.html"""
    words = ["my run", "-o", r"C:\my files\new.dinsight", "--html", r"C:\out.html"]
    assert words_of(text, escape="") == words
    assert words_of(r"a\ b 'c\d'", escape="\\") == ["a b", r"c\d"]
    assert words_of("-o=a --html='b c' d/'e f'.html") == ["-o=a", "--html=b c", "d/e f.html"]


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ('--client clients["gpu"]', 'clients["gpu"]'),
        ('--client=clients["gpu one"]', 'clients["gpu one"]'),
        ("--client \"clients['gpu']\"", "clients['gpu']"),
        ("--client 'client'", "client"),
    ],
)
def test_quotes_within_an_expression_are_its_own(text: str, expression: str) -> None:
    assert words_of(f"fit {text} --static") == ["fit", "--client", expression, "--static"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--bogus", "unrecognized arguments: --bogus"),
        ("one two", "unrecognized arguments: two"),
        ("-o", "expected one argument"),
        ("-o /no/such/folder/run.dinsight", "there is no folder"),
        ("--client nobody", "name 'nobody' is not defined"),
        ("--client 3", "a int is no distributed.Client"),
        ("--client (", "SyntaxError"),
        ("--resources never", "is no duration"),
        ("--resources 0s", "longer than nothing"),
        ("--resources ''", "is no duration"),
        ("-o ''", "--output is empty: name a file, or leave it out"),
        ("--html ''", "--html is empty: name a file, or leave it out"),
        ("--open nothing", "there is no panel 'nothing'; there are overview, findings"),
        ("'open quote", "No closing quotation"),
    ],
)
def test_wrong_arguments_are_told_in_one_line(shell: InteractiveShell, line: str, words: str) -> None:
    cell = Cell(shell, f"%%dprofile {line}\nran = True")
    assert isinstance(cell.error, UsageError)
    assert words in cell.err
    assert cell.err.startswith("UsageError: ")
    assert "Traceback" not in cell.out + cell.err
    assert "ran" not in shell.user_ns
    assert not cell.shown
    assert Cell(shell, f"%%dprofile after\n{COMPUTED}").value == 3


def test_a_foreign_file_is_not_replaced(shell: InteractiveShell, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    cell = Cell(shell, f"%%dprofile -o {tmp_path}/thesis.txt\n1")
    assert "dask-insight did not make it" in cell.err
    assert "--force" not in cell.err
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_files_are_written_and_named(shell: InteractiveShell, tmp_path: Path) -> None:
    shell.user_ns["folder"] = tmp_path
    cell = Cell(shell, f"%%dprofile 'two words' -o {{folder}}/a.dinsight --html $folder/a.html\n{COMPUTED}")
    assert cell.error is None
    assert dask_insight.open(tmp_path / "a.dinsight").summary().tasks == 1
    assert "two words" in (tmp_path / "a.html").read_text("utf-8")
    assert "a.dinsight" in cell.text
    assert "a.html" in cell.text
    assert list(dask_insight.runs) == ["two words"]


def test_a_page_lands_where_it_was_named(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = tmp_path / "sub" / "a.html"
    foreign.parent.mkdir()
    foreign.write_text("mine")
    cell = Cell(shell, f"%%dprofile --html a.html\nimport os\nos.chdir('sub')\n{COMPUTED}")
    assert foreign.read_text() == "mine"
    assert 'content="dask_insight"' in (tmp_path / "a.html").read_text("utf-8")
    assert "Written to a.html." in cell.text


def test_a_report_beside_the_notebook_lands_there_whatever_folder_the_cell_goes_to(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    in_notebook(shell)
    many = "dask.compute(*[add(n, 1) for n in range(4_000)], scheduler='sync')\n"
    with dask.config.set({OUTPUT_SIZE: "110 kB"}):
        cell = Cell(shell, f"%%dprofile\n{many}import os\nos.chdir('sub')")
    [page] = tmp_path.glob("*.html")
    assert f"The whole one is {page}." in cell.text
    assert not list((tmp_path / "sub").iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed")
def test_a_cell_is_recorded_where_the_folder_is_gone(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert Cell(shell, f"%%dprofile\n{COMPUTED}").value == 3


def test_a_page_that_cannot_be_written_costs_nothing_else(shell: InteractiveShell, tmp_path: Path) -> None:
    shell.user_ns["page"] = tmp_path / "gone" / "a.html"
    (tmp_path / "gone").mkdir()
    cell = Cell(shell, f"%%dprofile --html $page\npage.parent.rmdir()\n{COMPUTED}")
    assert f"{shell.user_ns['page']} was not written: " in cell.text
    assert MIME in cell.shown[0]


def test_files_of_a_run_without_tasks_are_named(shell: InteractiveShell, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<meta name="generator" content="dask_insight">')
    shell.user_ns["folder"] = tmp_path
    cell = Cell(shell, "%%dprofile -o $folder/a.dinsight --html $folder/a.html\n1")
    assert f"Written to {tmp_path / 'a.dinsight'}." in cell.text
    assert f"{tmp_path / 'a.html'} was not written." in cell.text


def test_without_stacks(shell: InteractiveShell) -> None:
    Cell(shell, f"%%dprofile --no-profile\n{COMPUTED}")
    assert recorded(shell).about["options"]["profile"] is False


@pytest.mark.parametrize("magic", ["%%dprofile --no-source\n", "%dprofile --no-source "])
def test_without_source(shell: InteractiveShell, magic: str) -> None:
    Cell(shell, f"{magic}{COMPUTED}")
    assert recorded(shell).about["options"]["source"] is False
    assert not len(recorded(shell).lines)
    assert not any(COMPUTED in str(recorded(shell).table(table).to_dict()) for table in TABLES)


def test_help(shell: InteractiveShell) -> None:
    assert "--resources DT" in shell.find_cell_magic("dprofile").__doc__
    assert "--static" in shell.object_inspect("%%dprofile")["docstring"]


def test_static(shell: InteractiveShell) -> None:
    picture, table = Cell(shell, f"%%dprofile --static\n{COMPUTED}").shown
    assert set(picture) == {"image/svg+xml", "image/png", "application/pdf", "text/plain"}
    assert "| Where the time went |" in table["text/markdown"]


def test_on_a_line(shell: InteractiveShell) -> None:
    shell.user_ns["text"] = "a b"
    cell = Cell(shell, f"%dprofile --name here {COMPUTED} + len('a  b')")
    assert cell.value == 7
    assert dask_insight.runs["here"].summary().tasks == 1
    assert Cell(shell, f"got = %dprofile {COMPUTED}").error is None
    assert shell.user_ns["got"] == 3
    assert Cell(shell, "%dprofile").value is recorded(shell)
    assert isinstance(Cell(shell, "%dprofile 1 / 0").error, ZeroDivisionError)
    assert isinstance(Cell(shell, "%dprofile --bogus 1").error, UsageError)


def test_code_on_a_line_is_left_as_it_is_and_options_name_variables(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    shell.user_ns |= {"i": 9, "folder": tmp_path}
    assert Cell(shell, '%dprofile [f"{i}" for i in range(3)]').value == ["0", "1", "2"]
    assert Cell(shell, "%dprofile '$i'").value == "$i"
    assert Cell(shell, f"%dprofile -o {{folder / 'a.dinsight'}} {COMPUTED}").value == 3
    assert (
        Cell(shell, f"def f(own):\n    %dprofile -o $own {COMPUTED}\nf(folder / 'b.dinsight')").error is None
    )
    with capture_output(display=False):
        shell.run_cell_magic("dprofile", "-o {folder}/c.dinsight", f"text = '{{i}}'\n{COMPUTED}")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.dinsight", "b.dinsight", "c.dinsight"]
    assert shell.user_ns["text"] == "{i}"
    shell.user_ns["blank"] = "two words"
    assert "unrecognized arguments: words" in Cell(shell, "%dprofile -o $blank 1").err


@pytest.mark.parametrize(
    ("code", "value"), [("4;", None), ("5;  # told", None), ("';'", ";"), ("x = 6;", None)]
)
def test_a_semicolon_at_the_end_of_a_line_shows_no_value(
    shell: InteractiveShell, code: str, value: Any
) -> None:
    assert Cell(shell, f"%dprofile --name 'a;' {code}").value == value


def test_the_code_of_a_line_has_the_number_of_its_cell(shell: InteractiveShell) -> None:
    Cell(shell, "%dprofile 4 + 4")
    number = len(shell.history_manager.input_hist_parsed) - 1
    assert set(shell.compile._filename_map.values()) == set(range(1, number + 1))


def test_called_by_a_program(shell: InteractiveShell) -> None:
    with capture_output(display=False):
        assert shell.run_cell_magic("dprofile", "called", f"x = 1\n{COMPUTED}") == 3
        with pytest.raises(ZeroDivisionError):
            shell.run_cell_magic("dprofile", "", "1 / 0")
    assert shell.user_ns["x"] == 1
    assert "called" in dask_insight.runs


def test_runs_are_listed_opened_exported_and_deleted(shell: InteractiveShell, tmp_path: Path) -> None:
    runs = dask_insight.runs
    assert "%%dprofile NAME" in repr(runs)
    for name in ("one", "two", "<b>three</b>"):
        Cell(shell, f"%%dprofile {name}\n{COMPUTED}")
    assert list(runs) == ["one", "two", "<b>three</b>"]
    assert all(name in repr(runs) for name in runs)
    assert "<b>three" not in runs._repr_html_()
    assert runs._repr_html_().count("text-align:left") == 4 * 4, "notebooks put text to the right"
    Cell(shell, f"%%dprofile one\n{COMPUTED}")
    assert list(runs) == runs._ipython_key_completions_() == ["two", "<b>three</b>", "one"]
    assert runs[-1] is runs["one"] and runs[0] is runs["two"]
    with pytest.raises(KeyError, match="no run 3; there are 'two', "):
        runs[3]
    runs["two"].save(tmp_path / "two.dinsight")
    assert dask_insight.open(tmp_path / "two.dinsight").summary().tasks == 1
    del runs["two"]
    with pytest.raises(KeyError, match="no run 'two'"):
        runs["two"]
    with pytest.raises(KeyError):
        del runs["two"]


def test_a_kept_run_takes_little_once_another_is_kept_and_tells_the_same(
    shell: InteractiveShell, tmp_path: Path
) -> None:
    many = "dask.get({('a', n): (abs, n) for n in range(3_000)}, [('a', n) for n in range(3_000)])"
    Cell(shell, f"%%dprofile first\n{many}")
    first = recorded(shell)
    names = ("tasks", "phases", "submissions", "functions", "events", "workers", "stacks", "samples")

    def told() -> list[str]:
        first.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text()
        return [*(first.table(name).to_csv() for name in names), repr(first.summary()), page]

    before, verdict = told(), first.summary(findings=False).verdict().replace("`", "")
    assert first.history.size == first.size and first._merged and first._answers._made
    Cell(shell, f"%%dprofile second\n{COMPUTED}")
    wait_for(lambda: first._merging is None, "the compressing of the first run")
    assert first.history.size < first.size / 3
    assert not first._merged and not first._answers._made and not first.identity.stacks._ids
    assert recorded(shell)._merged, "the newest is as it was"
    for _ in range(2):
        assert f"{size(first.history.size)}  {verdict}" in repr(dask_insight.runs)
        assert not first._merged, "who lists them looks at none"
    assert told() == before


def test_a_result_that_cannot_be_shown_takes_the_place_of_the_progress(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no \x1bpicture")

    in_notebook(shell)
    published = shell.display_pub.published
    shell.user_ns["shown"] = lambda: bool(published)
    monkeypatch.setattr("dask_insight.hosts.magic.run.bundle", broken)
    wait = (
        "import time\ndeadline = time.monotonic() + 20\nwhile not shown() and time.monotonic() < deadline:\n"
    )
    Cell(shell, f"%%dprofile sums\n{wait}    time.sleep(0.01)\n{COMPUTED}")
    assert len(published) >= 2
    assert published[-1]["update"] is True
    assert published[-1]["transient"] == published[0]["transient"]
    assert r"cannot be shown: RuntimeError: no \x1bpicture" in published[-1]["data"]["text/plain"]
    assert dask_insight.runs["sums"] is recorded(shell)


def test_what_awaits_beside_a_cell_ends_its_own_run(shell: InteractiveShell) -> None:
    profiler = profiler_of(shell)
    mine = profiler.open("mine", awaited=True)
    threading.Thread(target=profiler.open, args=("another",), kwargs={"awaited": True}).start()
    wait_for(lambda: len(profiler._open) == 2, "the other")
    assert profiler.awaited() is mine
    profiler._open.clear()


def test_a_run_that_cannot_begin_is_taken_back(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise MemoryError("no thread for it")

    in_notebook(shell)
    before = set(dask.callbacks.Callback.active), dask.get_annotations()
    monkeypatch.setattr("dask_insight.hosts.magic.run.Progress", broken)
    for code in (f"%%dprofile\n{COMPUTED}", f"%dprofile {COMPUTED}"):
        assert isinstance(Cell(shell, code).error, MemoryError)
        assert (set(dask.callbacks.Callback.active), dask.get_annotations()) == before
    assert "clear_output" not in vars(shell.display_pub)


def test_a_result_stands_anew_where_the_cell_has_cleared_its_output(shell: InteractiveShell) -> None:
    in_notebook(shell)
    published = shell.display_pub.published
    shell.user_ns["shown"] = lambda: wait_for(lambda: published, "progress")
    clear = "get_ipython().display_pub.clear_output(wait=True)"
    Cell(shell, f"%%dprofile sums\n{COMPUTED}\nshown()\n{clear}\n{COMPUTED}")
    last = published[-1]
    assert last["update"] is False and MIME in last["data"]
    assert last["transient"] != published[0]["transient"]
    # Where something else was cleared, what is there still is not to stand beside it.
    gone = [each for each in published if each["transient"] == published[0]["transient"]]
    assert gone[-1]["update"] is True and gone[-1]["data"] == {}
    assert "clear_output" not in vars(shell.display_pub)


def test_no_progress_is_published_anew_where_an_output_widget_may_catch_it(shell: InteractiveShell) -> None:
    place = Place(shell)
    published = shell.display_pub.published
    end = place.watch()
    place.put({"text/plain": "begun"})
    shell.display_pub.clear_output()
    place.put({"text/plain": "progress"})
    assert len(published) == 1
    end()
    place.keep({"text/plain": "report"}, {"text/plain": "table"})
    # Where the end is broken into, the progress may not have stopped yet.
    place.put({"text/plain": "progress"})
    assert [each["data"].get("text/plain") for each in published[1:]] == [None, "report", "table"]


def test_progress_within_an_output_widget_waits_for_its_end_and_the_report_stands_anew(
    shell: InteractiveShell,
) -> None:
    place, output = Place(shell), Output()
    output.msg_id = "the message that it takes outputs of"
    place.put({"text/plain": "progress"})
    place.keep({"text/plain": "report"})
    output.close()
    [shown] = shell.display_pub.published
    assert (shown["data"]["text/plain"], shown["update"]) == ("report", False)


@pytest.mark.parametrize("awaits", ["", "import asyncio\nawait asyncio.sleep(0)\n"])
def test_what_ends_early_does_not_say_that_it_still_records(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, awaits: str
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    in_notebook(shell)
    with monkeypatch.context() as broken:
        broken.setattr(Session, "_keep_code", interrupted)
        cell = Cell(shell, f"%%dprofile sums\n{awaits}{COMPUTED}")
    assert cell.text.endswith("sums: the recording has ended; it is kept as `_dprofile`.")
    # Nothing is kept of a run that cannot begin.
    monkeypatch.setattr(Run, "_open_panel", interrupted)
    cell = Cell(shell, f"%%dprofile --open task-stream\n{awaits}{COMPUTED}")
    assert cell.shown[0] and cell.shown[-1] == {}
    assert sees_its_updates(shell.display_pub.published)


def sees_its_updates(published: list[dict[str, Any]]) -> bool:
    """Whether a page has what each update is to take the place of."""
    seen: set[str] = set()
    for each in published:
        display = each["transient"]["display_id"]
        if each["update"] and display not in seen:
            return False
        seen.add(display)
    return True


@pytest.mark.parametrize("capture", ["%%capture got", "with capture_output() as got:"])
def test_what_captures_outputs_within_a_cell_takes_no_report(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capture: str
) -> None:
    in_notebook(shell)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    published = shell.display_pub.published
    shell.user_ns["capture_output"] = capture_output
    shell.user_ns["shown"] = lambda: wait_for(lambda: len(published) > 1, "progress")
    mine = "get_ipython().display_pub.publish({'text/plain': 'mine'})"
    indent = "    " if capture.endswith(":") else ""
    body = [f"{indent}{line}" for line in (mine, f"value = {COMPUTED}", "done = shown()")]
    Cell(shell, "\n".join(["%%dprofile sums", capture, *body]))
    assert sees_its_updates(published) and MIME in published[-1]["data"]
    assert [each.data for each in shell.user_ns["got"].outputs] == [{"text/plain": "mine"}]


@pytest.mark.parametrize("awaits", ["", "import asyncio\nawait asyncio.sleep(0)\n"])
def test_a_cell_has_its_output_before_anything_in_it_can_catch_one(
    shell: InteractiveShell, awaits: str
) -> None:
    in_notebook(shell)
    published = shell.display_pub.published
    shell.user_ns["shown"] = lambda: len(published)
    cell = Cell(shell, f"%%dprofile sums\nbefore = shown()\n{awaits}{COMPUTED}")
    assert shell.user_ns["before"] == 1 and "sums: recording" in published[0]["data"]["text/plain"]
    assert "·" not in published[0]["data"]["text/html"]
    assert sees_its_updates(published) and MIME in cell.shown[-1]
    # A line may stand within an output widget itself, where it would be shown and then not updated.
    [shown] = Cell(shell, f"%dprofile {COMPUTED}").shown
    assert MIME in shown


def test_what_was_said_at_once_is_not_said_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def unchanged(name: str, _: Any) -> str:
        looked.append(name)
        return "nothing yet"

    monkeypatch.setattr("dask_insight.hosts.magic.progress._FIRST", 0.001)
    monkeypatch.setattr("dask_insight.hosts.magic.progress._INTERVAL", 0.001)
    monkeypatch.setattr("dask_insight.hosts.magic.progress.as_text", unchanged)
    shown: list[dict[str, Any]] = []
    progress = Progress("run", Recording(), shown.append, at_once=True)
    wait_for(lambda: len(looked) > 2, "the progress has looked again")
    progress.stop()
    assert [each["text/plain"] for each in shown] == ["nothing yet"]


def test_nothing_is_kept_for_progress_that_nobody_sees() -> None:
    def gone(_: Any) -> None:
        raise RuntimeError("nobody is there")

    recording = Recording()
    progress = Progress("run", recording, gone, at_once=True)
    wait_for(lambda: not recording._followers, "it no longer follows the recording")
    progress.stop()


def test_a_cell_runs_where_its_progress_has_no_thread(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "dask-insight-progress":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    in_notebook(shell)
    cell = Cell(shell, f"%%dprofile sums\nvalue = {COMPUTED}")
    assert cell.error is None and MIME in cell.shown[-1]
    assert not dask_insight.runs["sums"]._followers


def test_what_is_captured_has_the_report_alone(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_notebook(shell)
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: shell)
    Cell(shell, f"%%capture got\n%%dprofile sums\nvalue = {COMPUTED}")
    [shown] = shell.user_ns["got"].outputs
    assert MIME in shown.data and not shown.update


def test_a_cell_that_is_repeated_is_recorded_once(shell: InteractiveShell) -> None:
    cell = Cell(shell, f"%%timeit -n 2 -r 1\n%%dprofile sums\n{COMPUTED}")
    assert isinstance(cell.error, UsageError)
    assert "recorded already" in cell.err and "above %%timeit" in cell.err
    assert dask_insight.runs["sums"].summary().tasks == 1
    assert [MIME in each for each in cell.shown] == [True]
    assert Cell(shell, f"%%dprofile whole\n%%timeit -n 2 -r 1\n{COMPUTED}").error is None
    assert dask_insight.runs["whole"].summary().tasks == 2


def test_a_cell_without_a_name_keeps_its_last_run(shell: InteractiveShell) -> None:
    for _ in range(3):
        Cell(shell, f"%%dprofile\n{COMPUTED}", cell_id="abc")
    assert len(dask_insight.runs) == 1
    for number in range(30):
        Cell(shell, f"%%dprofile\n{number}", cell_id=f"cell-{number}")
    assert len(dask_insight.runs) == 20


def test_filters_of_a_context_are_left_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    own: list[Any] = []
    monkeypatch.setattr(warnings, "_get_filters", lambda: own, raising=False)
    monkeypatch.setattr(warnings, "filterwarnings", lambda *given: own.insert(0, given))
    before = list(warnings.filters)
    with quiet_span("fit"):
        assert len(own) == 1
    assert own == [] and list(warnings.filters) == before


def test_help_is_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in parser(line=True).format_help()


def test_tasks_of_a_cluster_are_in_a_span_of_its_name(shell: InteractiveShell, client: Any) -> None:
    shell.user_ns["client"] = client
    cell = Cell(shell, "%%dprofile '<b>fit'\nclient.submit(sum, [1, 2], pure=False).result()")
    assert cell.value == 3
    run = recorded(shell)
    assert run.spans["path"].tolist() == ["<b>fit"]
    assert set(run.tasks["span"]) == set(run.spans["span"])
    assert dask.get_annotations() == {}


def test_a_cell_that_leaves_its_task_running_has_a_report(shell: InteractiveShell, client: Any) -> None:
    shell.user_ns["client"] = client
    cell = Cell(
        shell,
        "%%dprofile stuck\nfrom distributed import Event\n"
        "def stuck():\n    Event('begun').set()\n    Event('let go').wait(60)\n"
        "future = client.submit(stuck, pure=False)\nEvent('begun').wait(60)\nraise KeyboardInterrupt",
    )
    assert MIME in cell.shown[0]
    assert recorded(shell).summary().verdict().startswith("No task ended while this was recorded: 1 was ")
    Cell(shell, "Event('let go').set()\nfuture.result()")
    idle = Cell(shell, "%%dprofile idle\nclient.scatter([1, 2])\nfuture.result()")
    assert "No Dask computation ran here" in idle.text


def test_the_graph_is_the_one_that_it_is_without(shell: InteractiveShell, client: Any) -> None:
    shell.user_ns |= {"x": da.ones((100, 100), chunks=50) + 1, "client": client}
    Cell(shell, "%%dprofile\n((x + 2) * (x + 3)).sum().compute()")
    whole = recorded(shell).summary().tasks
    with dask_insight.record() as plain:
        ((shell.user_ns["x"] + 2) * (shell.user_ns["x"] + 3)).sum().compute()
    assert whole == plain.summary().tasks


def others_filters() -> list[Any]:
    """Filters of warnings, but for ours of code that is looked at."""
    return [each for each in warnings.filters if "dask_insight" not in str(each[3])]


def test_dataframes_do_not_warn_of_our_annotation(shell: InteractiveShell, client: Any) -> None:
    pytest.importorskip("pyarrow")
    import dask.dataframe.dask_expr._collection as collection

    collection._WARN_ANNOTATIONS = True
    shell.user_ns["client"] = client
    before = others_filters()
    code = "import dask.datasets\nlen(dask.datasets.timeseries('2000-01-01', '2000-01-02', '1h', '6h'))"
    cell = Cell(shell, f"%%dprofile frame\n{code}")
    assert cell.error is None
    assert "annotations" not in cell.err
    assert others_filters() == before


def test_only_the_client_that_is_named(shell: InteractiveShell, client: Any) -> None:
    shell.user_ns["client"] = client
    Cell(shell, f"%%dprofile --client client\nclient.submit(sum, [1], pure=False).result()\n{COMPUTED}")
    assert recorded(shell).tasks["prefix"].tolist() == ["sum"]


def test_a_client_made_in_the_cell(shell: InteractiveShell, cluster: Any) -> None:
    shell.user_ns["cluster"] = cluster
    made = "from distributed import Client\nwith Client(cluster) as c:\n"
    code = f"{made}    c.submit(sum, [1], pure=False).result()"
    Cell(shell, f"%%dprofile\n{code}")
    assert recorded(shell).summary().tasks == 1


def test_an_asynchronous_client_made_in_the_cell(shell: InteractiveShell, cluster: Any) -> None:
    shell.user_ns["address"] = cluster.scheduler_address
    code = (
        "from distributed import Client\n"
        "async with Client(address, asynchronous=True) as c:\n"
        "    got = await c.submit(sum, [1, 2], pure=False)\n"
        "got"
    )
    cell = Cell(shell, f"%%dprofile\n{code}")
    assert cell.value == 3
    assert recorded(shell).summary().tasks == 1


def test_a_cell_whose_end_nobody_told_ends_with_the_next_request(shell: InteractiveShell) -> None:
    profiler, request = profiler_of(shell), {"header": {"msg_id": "first", "msg_type": "execute_request"}}
    shell.get_parent = lambda: request
    # As where a second Ctrl-C breaks off what IPython tells.
    shell.events.unregister("post_run_cell", profiler.post_run_cell)
    Cell(shell, f"%%dprofile\n{COMPUTED}")
    shell.events.register("post_run_cell", profiler.post_run_cell)
    assert len(profiler._open) == 1
    Cell(shell, "1")
    request = {"header": {"msg_id": "of a widget", "msg_type": "comm_msg"}}
    Cell(shell, "1")
    assert len(profiler._open) == 1, "it may be a cell of that cell"
    request = {"header": {"msg_id": "second", "msg_type": "execute_request"}}
    Cell(shell, "1")
    assert not profiler._open and not profiler._cells
    assert recorded(shell).summary().tasks == 1


def test_a_cell_goes_on_while_others_run_within_it(shell: InteractiveShell) -> None:
    """As one that has its kernel answer requests: ``kernel.do_one_iteration()``."""
    profiler, request = profiler_of(shell), {"header": {"msg_id": "first", "msg_type": "execute_request"}}
    shell.get_parent = lambda: request

    def answer() -> None:
        nonlocal request
        request = {"header": {"msg_id": "second", "msg_type": "execute_request"}}
        shell.run_cell("1")
        assert len(profiler._open) == 1

    shell.user_ns["answer"] = answer
    assert Cell(shell, f"%%dprofile\nanswer()\n{COMPUTED}").error is None
    assert recorded(shell).summary().tasks == 1 and not profiler._open and not profiler._cells


def test_ten_runs_leave_nothing(shell: InteractiveShell, client: Any) -> None:
    shell.user_ns["client"] = client
    code = f"%%dprofile\nclient.submit(sum, [1], pure=False).result()\n{COMPUTED}"

    def there() -> dict[str, Any]:
        return {
            "threads": sorted(each.name for each in threading.enumerate() if "insight" in each.name),
            "callbacks": len(dask.callbacks.Callback.active),
            "events": {name: len(calls) for name, calls in shell.events.callbacks.items()},
            "transformers": (len(shell.input_transformers_cleanup), len(shell.ast_transformers)),
            "filters": len(warnings.filters),
            "preloads": dask.config.get("distributed.client.preload", []),
            "left": left_on(client),
        }

    Cell(shell, code, cell_id="same")
    before = there()
    for _ in range(10):
        Cell(shell, code, cell_id="same")
    assert there() == before
    assert before["threads"] == []
    assert not any(before["left"].values())
    assert len(dask_insight.runs) == 1


def test_registering_twice_and_taking_away() -> None:
    shell = InteractiveShell()
    before = [len(each) for each in (shell.input_transformers_cleanup, shell.ast_transformers)]
    magic.register(shell)
    magic.register(shell)
    assert [len(each) for each in (shell.input_transformers_cleanup, shell.ast_transformers)] == [
        count + 1 for count in before
    ]
    magic.unregister(shell)
    magic.unregister(shell)
    assert [len(each) for each in (shell.input_transformers_cleanup, shell.ast_transformers)] == before
    assert shell.find_cell_magic("dprofile") is None
    with capture_output():
        assert isinstance(shell.run_cell("%%dprofile\n1").error_in_exec, UsageError)
