"""The command line, as a person uses it: real processes."""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import textwrap
import time
import warnings
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, redirect_stdout, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from test_time_budget import Run

import dask_insight
from dask_insight import record, words
from dask_insight.analysis.findings import reference
from dask_insight.batch import encode
from dask_insight.errors import CommandError, ExitCode
from dask_insight.frames import Writer
from dask_insight.hosts.cli import main, signals
from dask_insight.hosts.cli.files import lacking, new_path, quoted, rescued, writable
from dask_insight.hosts.cli.prose import tell_path, wrapped
from dask_insight.hosts.cli.ranks import member, own, rank
from dask_insight.hosts.cli.run import outcome
from dask_insight.hosts.cli.signals import ENDING, Termination
from dask_insight.hosts.cli.times import seconds
from dask_insight.recording import Recording, open_recording
from dask_insight.schema import NOTHING

GOLDEN = Path(__file__).parent / "golden" / "run.dinsight"
COMMAND = [sys.executable, "-m", "dask_insight"]
LIMIT = 120

LOCAL = """
import sys
from dask import delayed

def double(value):
    return 2 * value

if __name__ == "__main__":
    print("arguments", sys.argv[1:], flush=True)
    print("total", delayed(sum)([delayed(double)(n) for n in range(10)]).compute(scheduler="{scheduler}"))
"""

CLUSTER = """
from dask import delayed
from distributed import Client, LocalCluster

class Held:
    def __init__(self, value):
        self.value = value

def hold(value):
    return Held(value)

def release(held):
    return held.value

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            print("total", sum(client.gather(client.map(release, client.map(hold, range(20))))))
"""

FAILS = """
from dask import delayed

@delayed
def bad():
    return 1 / 0

bad().compute(scheduler="{scheduler}")
"""

WAITS = """
import sys, time
from dask import delayed

def wait(path):
    open(path, "w").close()
    time.sleep(60)

print("ready", delayed(int)("7").compute(scheduler="threads"), flush=True)
{how}
delayed(wait)(sys.argv[1]).compute(scheduler="sync")
"""

SETS = """
import os
os.environ.update(DASK_SCHEDULER="sync", DASK_ARRAY__CHUNK_SIZE="7MiB")
import dask
print(dask.config.get("scheduler"), dask.config.get("array.chunk-size"))
"""

IMPORTS = """
import importlib.util, sys

class OfLongAgo:
    find_module = staticmethod(lambda name, path=None: None)

sys.meta_path.insert(0, OfLongAgo)
print(importlib.util.find_spec("dask").loader.is_package("dask"))
import dask
print(type(dask.__loader__), dask.__spec__.loader is dask.__loader__, [type(each) for each in sys.meta_path])
"""

SPAWNS = """
import dask, multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor

class Result:
    pass

def work():
    return Result()

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        print(type(pool.submit(work).result()) is Result)
    print(sys.modules["__mp_main__"] is sys.modules["__main__"])
"""

LEAVES_THREADS = """
import sys, threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def when_main_has_ended():
    main.join()
    print("joined", flush=True)

def until_main_has_ended():
    while main.is_alive():
        main.join(0.01)

if __name__ == "__main__":
    main = threading.main_thread()
    resting, processes = ThreadPoolExecutor(1), ProcessPoolExecutor(1)
    resting.submit(abs, -1).result(), processes.submit(abs, -1).result()
    for each in (when_main_has_ended, until_main_has_ended):
        threading.Thread(target=each).start()
    sys.exit(3)
"""


def run(*arguments: str | Path, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **options.pop("env", {})}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
        **options,
    )


def write(folder: Path, text: str, name: str = "program.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def tasks(recording: Recording) -> list[str]:
    columns: Any = recording.columns("graph")
    names = dict(zip(columns["task"].tolist(), columns["prefix"].tolist(), strict=True))
    attempts: Any = recording.columns("attempts")
    ended = zip(attempts["task"].tolist(), attempts["status"].tolist(), strict=True)
    return sorted(names[task] for task, status in ended if status == "ok")


@pytest.mark.parametrize("scheduler", ["threads", "sync", "processes"])
def test_run_a_script_with_a_local_scheduler(tmp_path: Path, scheduler: str) -> None:
    write(tmp_path, LOCAL.format(scheduler=scheduler))
    ended = run("run", "-o", "out.dinsight", "program.py", "-o", "--flag", "x", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "arguments ['-o', '--flag', 'x']\ntotal 90\n"
    assert "11 tasks" in ended.stderr
    assert "out.dinsight" in ended.stderr
    assert tasks(open_recording(tmp_path / "out.dinsight")) == ["double"] * 10 + ["sum"]


def test_run_a_script_with_a_cluster_of_its_own(tmp_path: Path) -> None:
    """Worker processes are spawned: they must find the program as their main module."""
    write(tmp_path, CLUSTER)
    ended = run("run", "--html", "out.html", "program.py", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "total 190\n"
    recording = open_recording(tmp_path / "program.dinsight")
    assert tasks(recording) == ["hold"] * 20 + ["release"] * 20
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")


def test_run_a_module(tmp_path: Path) -> None:
    write(tmp_path, "", "package/__init__.py")
    write(tmp_path, "from .part import greet\nimport sys\ngreet(sys.argv[1:])\n", "package/__main__.py")
    write(tmp_path, "def greet(whom):\n    print('hello', whom, __name__)\n", "package/part.py")
    ended = run("run", "-m", "package", "a", "-b", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "hello ['a', '-b'] package.part\n"
    assert "no Dask task" in ended.stderr and "dask-insight: Dask works when something is" in ended.stderr
    assert (tmp_path / "package.dinsight").exists()
    write(tmp_path, LOCAL.format(scheduler="processes"), "package/work.py")
    ended = run("run", "-q", "-m", "package.work", folder=tmp_path)
    assert ended.stdout == "arguments []\ntotal 90\n"
    assert ended.stderr == ""
    assert len(tasks(open_recording(tmp_path / "work.dinsight"))) == 11


def both(folder: Path, program: str, *arguments: str) -> tuple[Any, Any]:
    """The same program run by Python and by the command; the folder's name is taken out."""
    path = write(folder, program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    bare = subprocess.run(
        [sys.executable, path.name, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment,
    )
    return bare, run("run", "-q", path.name, *arguments, folder=folder)


@pytest.mark.parametrize(
    "program",
    [
        "raise ValueError('no')",
        "import sys\nsys.exit(7)",
        "import sys\nsys.exit('a message')",
        "import sys\ndef inner():\n    sys.exit()\ninner()",
        FAILS.format(scheduler="sync"),
        FAILS.format(scheduler="threads"),
        "import sys\nprint(sys.argv, sys.path[0], __name__, __file__, __spec__, __package__)",
        "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))).__module__)",
        "import atexit, sys\natexit.register(print, 'at exit')\nsys.stderr.write('to stderr\\n')",
        "import sys\nprint({'dask', 'numpy', 'multiprocessing', '__mp_main__'} & {*sys.modules})",
        SETS,
        IMPORTS,
        SPAWNS,
        LEAVES_THREADS,
        "def broken(:\n    pass",
    ],
)
def test_a_program_behaves_as_without_us(tmp_path: Path, program: str) -> None:
    bare, ours = both(tmp_path, program)
    assert ours.returncode == bare.returncode
    assert ours.stdout == bare.stdout
    if "broken" in program:
        assert "program.py, line 1" in ours.stderr
    else:
        assert ours.stderr == bare.stderr


def test_no_source_is_kept_where_it_is_not_wanted(tmp_path: Path) -> None:
    program = write(tmp_path, LOCAL.format(scheduler="threads"))
    assert run("run", "-q", "--no-source", program, folder=tmp_path).returncode == 0
    recording = open_recording(tmp_path / "program.dinsight")
    assert recording.lines.empty
    (submission,) = recording.submissions.to_dict("records")
    assert submission["code"] == ""
    assert submission["file"] == str(program)
    assert "compute(" in program.read_text().splitlines()[submission["line"] - 1]


def test_what_is_recorded_begins_with_the_program(tmp_path: Path) -> None:
    write(tmp_path, "import time\nprint(time.time())\n" + LOCAL.format(scheduler="sync"))
    ended = run("run", "-q", "program.py", folder=tmp_path)
    recording = open_recording(tmp_path / "program.dinsight")
    assert recording.started < float(ended.stdout.split()[0])
    assert len(tasks(recording)) == 11


def test_a_program_is_not_harmed_when_recording_cannot_begin(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    write(tmp_path, "import os, shutil\nshutil.rmtree('gone')\nimport dask\nprint('still here')\n")
    ended = run("run", "-o", folder / "run.dinsight", "program.py", folder=tmp_path)
    assert ended.stdout == "still here\n"
    assert ended.stderr.startswith("dask-insight: the program was not recorded: ")
    assert ended.returncode == ExitCode.UNWRITABLE


THREADS = """
import threading
from concurrent.futures import ThreadPoolExecutor
from dask import delayed

def compute():
    while threading.main_thread().is_alive():
        pass
    delayed(abs)(-1).compute(scheduler="sync")

pool = ThreadPoolExecutor(1)
pool.submit(compute)
threading.Thread(target=compute).start()
"""


def test_threads_that_outlive_the_main_one_are_recorded(tmp_path: Path) -> None:
    write(tmp_path, THREADS)
    ended = run("run", "program.py", folder=tmp_path)
    assert "2 tasks" in ended.stderr
    assert tasks(open_recording(tmp_path / "program.dinsight")) == ["abs", "abs"]


FAILS = """
import threading
from dask import delayed

def compute():
    threading.main_thread().join()
    print(delayed(abs)(-1).compute(scheduler="sync"))

threading.Thread(target=compute, name="late").start()
raise ValueError("no more")
"""


def tells_of_late_thread(folder: Path, program: str, returncode: int, why: str) -> None:
    write(folder, program)
    ended = run("run", "program.py", folder=folder)
    assert (ended.returncode, ended.stdout) == (returncode, "1\n")
    said = f"1 thread (late) went on when the recording ended, as {why}"
    assert f"dask-insight: {said}" in ended.stderr
    (loss,) = open_recording(folder / "program.dinsight").summary().losses
    assert loss.startswith(said)


def test_threads_of_a_program_that_fails_are_told(tmp_path: Path) -> None:
    tells_of_late_thread(tmp_path, FAILS, 1, "the program had failed")


UNSEEN = """
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from dask import delayed
from dask_insight.hosts.cli import threads

threads.policy = lambda: (None, "without the GIL")

def compute():
    threading.main_thread().join()
    print(delayed(abs)(-1).compute(scheduler="sync"))

ThreadPoolExecutor(1).submit(abs, -1).result()
processes = ProcessPoolExecutor(1, mp_context=get_context("fork"))
processes.submit(abs, -1).result()
threading.Thread(target=compute, name="late").start()
"""


def test_threads_whose_frames_cannot_be_looked_at_are_told_and_not_waited_for(tmp_path: Path) -> None:
    tells_of_late_thread(tmp_path, UNSEEN, 0, "this Python does not show")


def test_a_program_that_goes_elsewhere_leaves_its_files_where_they_were_named(tmp_path: Path) -> None:
    elsewhere = "import os\nos.mkdir('elsewhere')\nos.chdir('elsewhere')\n"
    write(tmp_path, elsewhere + LOCAL.format(scheduler="sync"))
    ended = run("run", "--html", "run.html", "program.py", folder=tmp_path)
    assert "recorded in program.dinsight (" in ended.stderr
    assert "and run.html (" in ended.stderr
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == ["elsewhere", "program.dinsight", "program.py", "run.html"]
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert len(tasks(open_recording(tmp_path / "program.dinsight"))) == 11


def test_a_program_that_removes_the_folder_of_its_recording(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    removes = "    import shutil\n    shutil.rmtree('out')\n    sys.exit({})\n"
    for given, code in ((0, ExitCode.UNWRITABLE), (9, 9)):
        (tmp_path / "out").mkdir(exist_ok=True)
        write(tmp_path, LOCAL.format(scheduler="sync") + removes.format(given))
        ended = run("run", "-q", "-o", "out/run.dinsight", "program.py", folder=tmp_path)
        assert ended.returncode == code
        gone = "but out/run.dinsight has gone and could not be written anew: there is no such folder"
        assert gone in ended.stderr and ended.stderr.count("\n") == 1


def test_the_path_of_modules_is_that_of_python(tmp_path: Path) -> None:
    """Behind links of the script, and without the folder in which the command was given."""
    shown = "import os, sys\nprint(sys.path[0], os.getcwd() in sys.path, sys.argv, __file__)\n"
    write(tmp_path, shown, "real/tool.py")
    write(tmp_path, shown, "real/folder/__main__.py")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").symlink_to("../real/tool.py")
    (tmp_path / "bin" / "folder").symlink_to("../real/folder")
    # The repository is on the path of Python, from its installation or by this.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for program in ("real/tool.py", "bin/tool", "bin/folder", "real/folder"):
        command = [sys.executable, program]
        bare = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert run("run", "-q", program, folder=tmp_path).stdout == bare.stdout


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ([], "`dask-insight --help`"),
        (["gone.dinsight"], "dask-insight report gone.dinsight --open"),
        (["a file", "--open"], "dask-insight report 'a file' --open"),
        (["open", "--open", "a file"], "dask-insight report 'a file' --open"),
        (["page.html"], "open it in a browser: page.html"),
        (["show", "page.html"], "open it in a browser: page.html"),
        (["notes.txt"], "invalid choice: 'notes.txt'"),
        (["open", "run.dinsight"], "dask-insight report run.dinsight --open"),
        (["show"], "dask-insight report FILE.dinsight --open"),
        (["program.py"], "dask-insight run program.py"),
    ],
)
def test_a_file_without_a_command_is_told_which_one(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    # A file may be called as a command is.
    for name in ("program.py", "page.html", "notes.txt", "info"):
        (tmp_path / name).touch()
    Recording().save(tmp_path / "a file")
    with pytest.raises(SystemExit, match=str(int(ExitCode.USAGE))):
        main(typed)
    said = capsys.readouterr()
    assert told.replace("'", "'" if os.name != "nt" else '"') in said.err and not said.out
    with pytest.raises(SystemExit, match="2"):
        main(["info"])


@pytest.mark.parametrize("option", ["output", "html"])
def test_a_file_without_a_name_is_refused_before_the_program_runs(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `-o "$OUT"` names it where the variable is not set."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text("open('ran', 'w')", encoding="utf-8")
    with pytest.raises(SystemExit, match=str(int(ExitCode.USAGE))):
        main(["run", f"--{option}", "", "program.py"])
    assert f"--{option} is empty: name a file, or leave it out" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


@pytest.mark.parametrize(
    ("text", "length"), [("200ms", 0.2), ("5min", 300.0), ("1 h", 3600.0), ("1.5 Seconds", 1.5), ("3", 3.0)]
)
def test_lengths_of_time(text: str, length: float) -> None:
    assert seconds(text) == pytest.approx(length)


def test_a_path_that_is_safe_stays_so(tmp_path: Path) -> None:
    program = write(tmp_path, "import sys, os\nprint(os.path.dirname(__file__) in sys.path)\n")
    safe = {"PYTHONSAFEPATH": "1"}
    assert run("run", "-q", program, folder=tmp_path, env=safe).stdout == "False\n"
    assert run("run", "-q", program, folder=tmp_path).stdout == "True\n"
    assert run("run", "-m", "program", folder=tmp_path, env=safe).returncode == ExitCode.USAGE


def test_a_file_that_cannot_be_looked_into_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "open elsewhere")

    path = write(tmp_path, "x", "sheet.dinsight")
    monkeypatch.setattr(Path, "open", locked)
    with pytest.raises(CommandError, match=r"looked into \(open elsewhere\): choose another name"):
        writable(path)


def test_a_page_whose_folder_cannot_be_written_is_refused_before_the_program_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "", "run.html")
    # Permissions keep no administrator from anything.
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    with pytest.raises(CommandError, match=r"run\.html cannot be written: choose another place"):
        writable(path, text=True)
    with pytest.raises(CommandError, match=r"run\.html cannot be written: choose another place"):
        writable(path)
    assert writable(path, grows=True) == path, "a recording grows in the file that is there"


def test_trouble_with_the_report_changes_nothing_for_the_program(tmp_path: Path) -> None:
    write(
        tmp_path,
        LOCAL.format(scheduler="sync") + "    import os\n    os.mkdir('out.html')\n    sys.exit(5)\n",
    )
    ended = run("run", "--html", "out.html", "program.py", folder=tmp_path)
    assert ended.returncode == 5
    assert "report could not be written" in ended.stderr
    assert len(tasks(open_recording(tmp_path / "program.dinsight"))) == 11


@pytest.mark.parametrize("program", ["print('no Dask here')\n", "import no_such_module_at_all\n"])
def test_a_program_that_never_imports_dask_leaves_an_earlier_recording(tmp_path: Path, program: str) -> None:
    write(tmp_path, LOCAL.format(scheduler="sync"))
    run("run", "-o", "kept.dinsight", "program.py", folder=tmp_path)
    before = (tmp_path / "kept.dinsight").read_bytes()
    write(tmp_path, program)
    ended = run("run", "-o", "kept.dinsight", "program.py", folder=tmp_path)
    assert ended.returncode == (1 if "import" in program else 0)
    assert "nothing was recorded, and kept.dinsight is what was there before" in ended.stderr
    assert (tmp_path / "kept.dinsight").read_bytes() == before


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_program_may_close_its_streams(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"import sys; sys.{name}.close()\n")
    ended = run("run", "program.py", folder=tmp_path)
    assert ended.returncode == 0
    assert name == "stderr" or "no Dask task was run; program.dinsight holds" in ended.stderr
    assert "stopped" in open_recording(tmp_path / "program.dinsight").about


def start_waiting(folder: Path, how: str = "") -> tuple[subprocess.Popen[str], Path]:
    write(folder, WAITS.format(how=how))
    begun = folder / "begun"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [*COMMAND, "run", "-o", "out.dinsight", "program.py", str(begun)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    deadline = time.monotonic() + LIMIT
    while not begun.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, folder / "out.dinsight"


@pytest.fixture
def signals_by_default() -> Iterator[None]:
    """Children inherit what is ignored: these tests hold under nohup, too."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in numbers]
    yield
    for number, handler in before:
        signal.signal(number, handler)


@pytest.mark.usefixtures("signals_by_default")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU"])
def test_signals_pass_and_the_recording_is_complete(tmp_path: Path, name: str) -> None:
    number = signal.Signals[name]
    process, path = start_waiting(tmp_path)
    process.send_signal(number)
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == -number
    assert output == "ready 7\n"
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT)
    recording = open_recording(path)
    assert tasks(recording) == ["int"]
    assert recording.gaps == []
    assert "stopped" in recording.about
    statuses: Any = recording.columns("attempts")["status"]
    assert sorted(statuses.tolist()) == ["erred", "ok"]


LOOPS = """
import asyncio

async def work():
    wait(sys.argv[1])

async def main():
    {begins}
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.usefixtures("signals_by_default")
@pytest.mark.parametrize(
    "begins",
    ["asyncio.get_running_loop().call_soon(wait, sys.argv[1])", "task = asyncio.create_task(work())"],
)
def test_what_an_event_loop_runs_is_ended_too(tmp_path: Path, begins: str) -> None:
    process, path = start_waiting(tmp_path, LOOPS.format(begins=begins))
    try:
        process.terminate()
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGTERM
    assert "stopped" in open_recording(path).about


#: As in the first process of a container, where a signal to oneself ends nobody.
FIRST = "import os\nos.kill = lambda *_: None"


@pytest.mark.usefixtures("signals_by_default")
def test_the_first_process_of_a_container_ends_by_a_signal(tmp_path: Path) -> None:
    process, path = start_waiting(tmp_path, FIRST)
    process.terminate()
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + signal.SIGTERM
    assert "recorded in out.dinsight" in errors and "Traceback" not in errors
    assert "stopped" in open_recording(path).about


@pytest.mark.usefixtures("signals_by_default")
def test_it_does_so_where_the_signal_waits_for_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "kill", lambda *_: None)
    with pytest.raises(SystemExit) as ended, Termination():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="systems have it that limit CPU time")
@pytest.mark.usefixtures("signals_by_default")
def test_a_limit_of_cpu_time_that_is_told_again_is_no_other_request(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _, number: killed.append(number))
    monkeypatch.setattr(signals, "_ONE_REQUEST", -1.0)
    with pytest.raises(SystemExit), Termination() as termination, termination.raising():
        with suppress(signals.Terminated):
            signal.raise_signal(signal.SIGXCPU)
        signal.raise_signal(signal.SIGXCPU)
        assert not killed
        signal.raise_signal(signal.SIGTERM)
        assert killed == [signal.SIGTERM]
    assert killed[1:] == [signal.SIGXCPU]


@pytest.mark.usefixtures("signals_by_default")
def test_what_cannot_be_completed_ends_by_a_further_request(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    now = time.monotonic()
    monkeypatch.setattr(os, "kill", lambda _, number: killed.append(number))
    monkeypatch.setattr(signals.time, "monotonic", lambda: now)
    with pytest.raises(SystemExit), Termination() as termination:
        with termination.raising():
            pass
        for passed in (60.0, 1.0):
            now += passed
            signal.raise_signal(signal.SIGTERM)
            assert not killed, "it is one request, and the first"
        now += 10.0
        signal.raise_signal(signal.SIGTERM)
        assert killed == [signal.SIGTERM]
    killed.clear()
    with pytest.raises(SystemExit), Termination() as termination:
        with termination.raising():
            pass
        for passed in (1.0, 28.0):
            now += passed
            signal.raise_signal(signal.SIGTERM)
        assert not killed, "it may be completed yet"


def test_a_program_that_handles_a_signal_is_left_to_do_so(tmp_path: Path) -> None:
    how = "import signal, os\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(3))"
    process, path = start_waiting(tmp_path, how)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 3
    assert "int" in tasks(open_recording(path))


def test_a_program_that_is_killed_leaves_what_was_written(tmp_path: Path) -> None:
    process, path = start_waiting(tmp_path)
    deadline = time.monotonic() + LIMIT
    while not tasks(open_recording(path)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.kill()
    process.communicate(timeout=LIMIT)
    left = open_recording(path)
    assert tasks(left) == ["int"]
    assert any("had not ended" in loss for loss in left.summary().losses)


STAYS = """
import time
from dask import delayed

print(delayed(int)("7").compute(scheduler="threads"), flush=True)
while True:
    try:
        time.sleep(60)
    except BaseException:
        print("stays", flush=True)
"""


@pytest.mark.usefixtures("signals_by_default")
def test_a_program_that_stays_is_ended_by_another_request(tmp_path: Path) -> None:
    write(tmp_path, STAYS)
    process = subprocess.Popen(
        [*COMMAND, "run", "-o", "out.dinsight", "program.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "7\n"
        deadline = time.monotonic() + LIMIT
        while not tasks(open_recording(tmp_path / "out.dinsight")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.terminate()
        assert process.stdout.readline() == "stays\n"
        deadline = time.monotonic() + 30
        while process.poll() is None:
            assert time.monotonic() < deadline
            process.terminate()
            time.sleep(0.1)
    finally:
        process.kill()
        rest, _ = process.communicate(timeout=LIMIT)
    assert (process.returncode, rest) == (-signal.SIGTERM, "")
    assert tasks(open_recording(tmp_path / "out.dinsight")) == ["int"]


@pytest.mark.usefixtures("signals_by_default")
def test_signals_at_once_are_one_request(tmp_path: Path) -> None:
    """As `timeout` sends them: to the process, then to its group."""
    sends = "os.kill(os.getpid(), signal.SIGTERM)"
    how = f"import os, signal\ntry:\n    {sends}\nfinally:\n    {sends}"
    write(tmp_path, WAITS.format(how=how))
    ended = run("run", "-o", "out.dinsight", "program.py", folder=tmp_path)
    assert ended.returncode == -signal.SIGTERM
    assert "recorded in out.dinsight" in ended.stderr
    assert "stopped" in open_recording(tmp_path / "out.dinsight").about


@pytest.mark.usefixtures("signals_by_default")
def test_a_file_that_another_process_records_to_is_left_alone(tmp_path: Path) -> None:
    process, path = start_waiting(tmp_path)
    write(tmp_path, "print('never')\n", "other.py")
    ended = run("run", "-o", path, "other.py", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (ExitCode.UNWRITABLE, "")
    assert "another process records to it; name another file" in ended.stderr
    assert ended.stderr.count("\n") == 1
    with pytest.raises(OSError, match="another process records to it"), record(path, clusters=False):
        pass
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert tasks(open_recording(path)) == ["int"]
    assert run("run", "-q", "-o", path, "other.py", folder=tmp_path).returncode == 0


def test_a_file_is_taken_before_the_program_has_imported_dask(tmp_path: Path) -> None:
    later = 'input("begun\\n")\nfrom dask import delayed\ndelayed(int)("7").compute(scheduler="sync")\n'
    write(tmp_path, later)
    write(tmp_path, "print('never')\n", "other.py")
    with subprocess.Popen(
        [*COMMAND, "run", "-q", "-o", "out.dinsight", "program.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        ended = run("run", "-o", "out.dinsight", "other.py", folder=tmp_path)
        process.communicate("\n", timeout=LIMIT)
    assert (ended.returncode, ended.stdout) == (ExitCode.UNWRITABLE, "")
    assert "another process records to it; name another file" in ended.stderr
    assert process.returncode == 0 and tasks(open_recording(tmp_path / "out.dinsight")) == ["int"]


FORKS = """
import os, sys
from dask import delayed

print(delayed(len)("abc").compute(scheduler="threads"))
recording = os.stat("run.dinsight")
child = os.fork()
if child == 0:
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(os.path.samestat(recording, os.stat("run.dinsight")))
print(delayed(sum)([1, 2]).compute(scheduler="threads"))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_process_that_is_forked_off_leaves_the_recording_alone(tmp_path: Path) -> None:
    write(tmp_path, FORKS)
    ended = run("run", "-o", "run.dinsight", "program.py", folder=tmp_path)
    assert ended.stdout.split() == ["3", "5", "True", "3"], ended.stderr
    assert ended.stderr.count("recorded in") == 1
    assert tasks(open_recording(tmp_path / "run.dinsight")) == ["len", "sum"]


TERMINATES = """
import os, signal, tempfile

with tempfile.TemporaryDirectory() as folder:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, repr(signal.getsignal(signal.SIGTERM)).encode())
        signal.pause()
    print(os.read(reading, 100))
    os.kill(child, signal.SIGTERM)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.path.isdir(folder))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("signals_by_default")
def test_a_process_that_is_forked_off_ends_by_signals_as_without_us(tmp_path: Path) -> None:
    bare, ours = both(tmp_path, TERMINATES)
    assert ours.stdout == bare.stdout
    assert bare.stdout.endswith("-15 True\n")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("signals_by_default")
def test_a_signal_that_comes_while_something_else_forks_ends_the_child() -> None:
    with Termination() as termination:
        child = os.fork()
        if child == 0:
            try:
                signal.signal(signal.SIGTERM, termination._on_signal)
                with termination.raising():
                    os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM


DUMPS = """
import faulthandler, os, signal, tempfile

with tempfile.TemporaryFile() as dump:
    faulthandler.register(signal.SIGUSR1, file=dump)
    (ready, begun), (told, end) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.write(begun, b"!")
        os.read(told, 1)
        os._exit(7)
    os.read(ready, 1)
    os.kill(child, signal.SIGUSR1)
    os.write(end, b"!")
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), dump.seek(0, 2) > 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("signals_by_default")
def test_a_process_that_is_forked_off_dumps_its_stacks_as_without_us(tmp_path: Path) -> None:
    bare, ours = both(tmp_path, DUMPS)
    assert ours.stdout == bare.stdout == "7 True\n"


SIGNALLED = """
import multiprocessing, os, signal, sys, time
from dask import delayed

def child():
    try:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        time.sleep(60)
    except Exception as error:
        print("swallowed", type(error).__name__)

if __name__ == "__main__":
    delayed(sum)([1, 2]).compute(scheduler="sync")
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join()
    print(process.exitcode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
def test_the_path_that_is_printed_is_that_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, LOCAL.format(scheduler="sync"))
    run("run", "-o", "kept.dinsight", "program.py", folder=tmp_path)
    name = os.fsdecode(b"of \xff.html")
    command = [*COMMAND, "report", "kept.dinsight", "-o", name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=LIMIT, env=environment)
    assert os.fsencode(tmp_path / name).endswith(ended.stdout.strip()), ended
    assert (tmp_path / name).is_file()


def test_a_path_is_printed_where_the_output_is_no_stream_of_bytes() -> None:
    with redirect_stdout(io.StringIO()) as told:
        tell_path(Path("run.html"))
    assert told.getvalue() == "run.html\n"


@pytest.mark.parametrize("name", ["n" * 300, "there/file.dinsight"])
def test_an_output_that_cannot_even_be_looked_for_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "there").write_text("")
    with pytest.raises(CommandError, match=r"cannot be written|there is no folder"):
        writable(tmp_path / name)
    assert own(tmp_path / name, {}) == tmp_path / name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_a_process_that_is_forked_off_dies_of_a_signal_as_without_us(tmp_path: Path, name: str) -> None:
    bare, ours = both(tmp_path, SIGNALLED, name)
    assert ours.stdout == bare.stdout == f"-{getattr(signal, name).value}\n"


@pytest.mark.skipif(os.name != "posix", reason="a folder that is worked in cannot be removed here")
def test_a_program_is_recorded_though_its_folder_has_been_removed(tmp_path: Path) -> None:
    write(tmp_path, LOCAL.format(scheduler="sync"))
    output, gone = tmp_path / "kept.dinsight", tmp_path / "gone"
    gone.mkdir()
    lost = [
        sys.executable,
        "-c",
        "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.argv[1], sys.argv[1:])",
    ]
    command = [*COMMAND, "run", "-o", output, tmp_path / "program.py"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [*lost, *map(str, command)], cwd=gone, capture_output=True, text=True, timeout=LIMIT, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    assert len(tasks(open_recording(output))) == 11


RANKS = """
import os
from dask import delayed

if os.environ["OMPI_COMM_WORLD_RANK"] != "0":
    delayed(sum)([1, 2]).compute(scheduler="sync")
"""


def test_processes_of_one_program_write_a_file_each_and_none_without_dask(tmp_path: Path) -> None:
    """As under mpirun with dask-mpi, where rank 1 is the client and the others scheduler and workers."""
    write(tmp_path, RANKS)
    command = ("run", "-o", "run.dinsight", "--html", "run.html", "program.py")
    said = {}
    for number in ("0", "1", "2"):
        environment = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": number}
        ended = run(*command, folder=tmp_path, env=environment)
        assert ended.returncode == 0, ended.stderr
        said[number] = ended.stderr
    assert said["0"] == ""
    assert "recorded in run-rank2.dinsight" in said["2"]
    found = sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".py")
    assert found == ["run-rank1.dinsight", "run-rank1.html", "run-rank2.dinsight", "run-rank2.html"]
    assert tasks(open_recording(tmp_path / "run-rank1.dinsight")) == ["sum"]


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, None),
        ({"PMI_SIZE": "4", "PMI_RANK": "3"}, 3),
        ({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, None),
        ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, 0),
        ({"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "PMI_SIZE": "2", "PMI_RANK": "1"}, 1),
        ({"PMI_SIZE": "many", "PMI_RANK": ""}, None),
    ],
)
def test_launchers_tell_which_process_this_is(environment: dict[str, str], number: int | None) -> None:
    assert rank(environment) == number


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ({}, None),
        ({"SLURM_ARRAY_TASK_ID": "0"}, 0),
        ({"PBS_ARRAY_INDEX": "12"}, 12),
        ({"SGE_TASK_ID": "undefined"}, None),
        ({"SGE_TASK_ID": "3"}, 3),
        ({"LSB_JOBINDEX": "0"}, None),
        ({"LSB_JOBINDEX": "7", "SGE_TASK_ID": "undefined"}, 7),
        ({"JOB_COMPLETION_INDEX": "0"}, 0),
        ({"AWS_BATCH_JOB_ARRAY_INDEX": "0"}, 0),
        ({"BATCH_TASK_COUNT": "1", "BATCH_TASK_INDEX": "0"}, None),
        ({"BATCH_TASK_COUNT": "2", "BATCH_TASK_INDEX": "0"}, 0),
        ({"CLOUD_RUN_TASK_COUNT": "1", "CLOUD_RUN_TASK_INDEX": "0"}, None),
        ({"CLOUD_RUN_TASK_COUNT": "8", "CLOUD_RUN_TASK_INDEX": "7"}, 7),
    ],
)
def test_batch_systems_tell_which_member_of_an_array_this_is(
    environment: dict[str, str], number: int | None
) -> None:
    assert member(environment) == number


@pytest.mark.parametrize(
    ("given", "file"),
    [
        ("run.dinsight", "run-task7.dinsight"),
        ("run", "run-task7"),
        ("run-7.dinsight", "run-7.dinsight"),
        ("07/run.dinsight", "07/run.dinsight"),
        ("run-70.dinsight", "run-70-task7.dinsight"),
        # Member 8 has it already.
        ("run-7-of-8.dinsight", "run-7-of-8-task7.dinsight"),
        (".", "."),
    ],
)
def test_a_member_of_an_array_has_a_file_of_its_own(given: str, file: str) -> None:
    assert own(Path(given), {"SLURM_ARRAY_TASK_ID": "7"}) == Path(file)


def test_a_rank_within_a_member_of_an_array_has_both_in_its_name() -> None:
    environment = {"SLURM_ARRAY_TASK_ID": "7", "PMI_SIZE": "2", "PMI_RANK": "1"}
    assert own(Path("run.dinsight"), environment) == Path("run-task7-rank1.dinsight")


def test_members_of_an_array_that_run_at_once_write_a_file_each(tmp_path: Path) -> None:
    write(tmp_path, 'input("begun\\n")\n' + LOCAL.format(scheduler="sync"))
    write(tmp_path, LOCAL.format(scheduler="sync"), "other.py")
    with subprocess.Popen(
        [*COMMAND, "run", "-q", "-o", "run.dinsight", "program.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "SLURM_ARRAY_TASK_ID": "1"},
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        array = {"SLURM_ARRAY_TASK_ID": "2"}
        ended = run("run", "-q", "-o", "run.dinsight", "other.py", folder=tmp_path, env=array)
        process.communicate("\n", timeout=LIMIT)
    assert (process.returncode, ended.returncode) == (0, 0), ended.stderr
    for number in (1, 2):
        assert len(tasks(open_recording(tmp_path / f"run-task{number}.dinsight"))) == 11


def test_files_of_others_are_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path, "pass\n")
    precious = write(tmp_path, "precious", "notes.txt")
    ended = run("run", "-o", precious, "program.py", folder=tmp_path)
    assert ended.returncode == ExitCode.UNWRITABLE
    assert ended.stderr.count("\n") == 1
    assert "--force" in ended.stderr
    assert precious.read_text() == "precious"
    write(tmp_path, LOCAL.format(scheduler="sync"))
    assert run("run", "-q", "--force", "-o", precious, "program.py", folder=tmp_path).returncode == 0
    assert open_recording(precious).about["name"] == "program"


def test_own_recordings_are_numbered_unless_named(tmp_path: Path) -> None:
    write(tmp_path, "pass\n")
    for _ in range(2):
        run("run", "-q", "program.py", folder=tmp_path)
        run("run", "-q", "-o", "named.dinsight", "program.py", folder=tmp_path)
    found = sorted(path.name for path in tmp_path.glob("*.dinsight"))
    assert found == ["named.dinsight", "program-2.dinsight", "program.dinsight"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["info", "missing.dinsight"], ExitCode.UNREADABLE, "no file missing.dinsight"),
        (["report", "notes.txt"], ExitCode.UNREADABLE, "not a dask_insight recording"),
        (["report", "notes.txt"], ExitCode.UNREADABLE, "`dask-insight import`"),
        (["report", "run.dinsight", "-o", "-"], ExitCode.USAGE, "name a file"),
        (["export", "run.dinsight", "--to", "json", "-o", "-"], ExitCode.USAGE, "name a file"),
        (["info", "memory://run.dinsight"], ExitCode.UNREADABLE, "is a URL"),
        (["import", "run.dinsight"], ExitCode.UNREADABLE, "is a recording already"),
        (["findings", "compared.dinsight"], ExitCode.UNREADABLE, "`dask-insight info compared.dinsight`"),
        (["what-if", "compared.dinsight"], ExitCode.UNREADABLE, "`dask-insight info compared.dinsight`"),
        (["compare", "compared.dinsight", "run.dinsight"], ExitCode.USAGE, "is a comparison"),
        (["compare", "--baseline", "run.dinsight", "b"], ExitCode.USAGE, "to compare before it"),
        (["run", "missing.py"], ExitCode.USAGE, "no file missing.py"),
        (["run", "python3", "program.py"], ExitCode.USAGE, "`dask-insight run program.py`"),
        (
            ["run", "Python3.13t.exe", "my program.py", "-v"],
            ExitCode.USAGE,
            f"run {quoted('my program.py')} -v`",
        ),
        (["run", "pythonw", "-m", "package"], ExitCode.USAGE, "`dask-insight run -m package`"),
        (["run", "python", "-u", "program.py"], ExitCode.USAGE, "`dask-insight run SCRIPT`"),
        (["run", "tool"], ExitCode.USAGE, "tool is a command: `dask-insight run bin"),
        (["run", "archive"], ExitCode.USAGE, "archive is a command: `dask-insight run bin"),
        (["run", "binary"], ExitCode.USAGE, "for a module, use `dask-insight run -m binary`"),
        (["run", "shell"], ExitCode.USAGE, "for a module, use `dask-insight run -m shell`"),
        (["run", "-m", "no_such_module"], ExitCode.USAGE, "no module no_such_module"),
        (["run", "-m", ".relative"], ExitCode.USAGE, "no name of a module"),
        (["run", "zeros.py"], ExitCode.FAILED, "does not compile"),
        (["run", "book.ipynb"], ExitCode.USAGE, "nbconvert"),
        (["run", "-o", "none/x.dinsight", "program.py"], ExitCode.UNWRITABLE, "make it first"),
        (["run", "--every", "30s", "program.py"], ExitCode.USAGE, "with --html FILE"),
        (["attach", "tcp://127.0.0.1:1", "--every", "30s"], ExitCode.USAGE, "with --html FILE"),
        (["attach", "tcp://127.0.0.1:1", "--timeout", "1s"], ExitCode.UNREACHABLE, "no scheduler answers"),
    ],
)
def test_errors_are_one_line_that_names_the_cure(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: ExitCode,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("notes.txt", "program.py", "book.ipynb"):
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "zeros.py").write_bytes(b"print(1)\0")
    (tmp_path / "bin").mkdir()
    with io.BytesIO() as packed:
        zipfile.ZipFile(packed, "w").close()
        archive = packed.getvalue()
    commands = {
        "tool": b"#!/bin/sh\n'''exec' '/a long/path/python' \"$0\" \"$@\"\n",
        "archive": b"MZ a launcher" + archive,
        "binary": b"\x7fELF python",
        "shell": b"#!/bin/sh\nexec python\n",
    }
    for name, content in commands.items():
        command = tmp_path / "bin" / (f"{name}.exe" if sys.platform == "win32" else name)
        command.write_bytes(content)
        command.chmod(0o755)
    monkeypatch.setenv("PATH", "bin")
    Recording().save("run.dinsight")
    dask_insight.compare("run.dinsight", "run.dinsight").save("compared.dinsight")
    assert main(arguments) == code
    errors = capsys.readouterr().err
    assert words in errors
    assert "None" not in errors
    assert errors.count("\n") == 1


def test_a_place_that_cannot_be_written_names_no_option_that_means_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Recording().save("run.dinsight")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    # There, -o is the recording.
    assert main(["compare", "run.dinsight", "run.dinsight", "--html", "page.html"]) == ExitCode.UNWRITABLE
    errors = capsys.readouterr().err
    assert "page.html cannot be written: choose another place" in errors and "-o" not in errors


@pytest.mark.parametrize("arguments", [[], ["run"], ["nonsense"], ["run", "--resources", "soon", "x.py"]])
def test_a_wrong_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == ExitCode.USAGE
    assert "usage: dask-insight" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "attach", "report", "info", "demo"])
def test_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"  dask-insight {command}" in capsys.readouterr().out.partition("examples:")[2]


def test_help_tells_of_exit_codes_and_signals(capsys: pytest.CaptureFixture[str]) -> None:
    for command, wanted in (
        ([], [f"  {code:<3}  {code.meaning}" for code in ExitCode]),
        (["run"], [each.name for each in ENDING]),
    ):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        told = capsys.readouterr().out
        assert [each for each in wanted if each not in told] == []


def test_the_rules_need_no_recording(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["findings", "--rules"])
    assert ended.value.code == ExitCode.OK
    assert capsys.readouterr().out == reference.markdown()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("dask-insight ")


def test_report_and_info(tmp_path: Path) -> None:
    write(tmp_path, LOCAL.format(scheduler="threads"))
    run("run", "-q", "--name", "my run", "program.py", folder=tmp_path)
    ended = run("report", "program.dinsight", folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "program.html"
    page = (tmp_path / "program.html").read_text()
    assert "my run" in page
    assert run("report", "program.dinsight", folder=tmp_path).returncode == 0
    ended = run("info", "program.dinsight", folder=tmp_path)
    assert "my run" in ended.stdout
    assert "11" in ended.stdout
    facts = json.loads(run("info", "--json", "program.dinsight", folder=tmp_path).stdout)
    assert facts["tasks"] == 11
    assert facts["rows"]["attempts"] == 11
    assert facts["gaps"] == []


JUDGING = ["findings run.dinsight", "what-if --json run.dinsight", "export --to json run.dinsight"]


def test_info_cuts_long_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Run()
    made.task("n" * 300, "a", 0, 1)
    made.recording().save(tmp_path / "run.dinsight")
    assert main(["info", str(tmp_path / "run.dinsight")]) == ExitCode.OK
    assert f" {'n' * 59}…{'n' * 59}\n" in capsys.readouterr().out


def test_a_path_that_is_printed_to_a_terminal_is_obeyed_by_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Recording().save(tmp_path / "run.dinsight")
    (tmp_path / "trace.json").write_text('[{"ph": "X", "name": "f", "ts": 0, "dur": 1}]')
    page, taken = (tmp_path / f"\x1b[2J{name}" for name in ("page.html", "taken.dinsight"))
    commands = [
        ["report", str(tmp_path / "run.dinsight"), "-o", str(page)],
        ["export", str(tmp_path / "run.dinsight"), "-o", f"{page}.trace.json", "--force"],
        ["import", str(tmp_path / "trace.json"), "-o", str(taken), "--force"],
    ]
    for command in commands:
        assert main(command) == ExitCode.OK
        assert "\x1b" in capsys.readouterr().out, "programs read the path as it is"
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert main(command) == ExitCode.OK
        assert "\x1b" not in capsys.readouterr().out
        monkeypatch.undo()
    assert main(["compare", str(GOLDEN), str(GOLDEN), "--markdown", f"{page}.md"]) == ExitCode.OK
    assert "written to" in (said := capsys.readouterr().err) and "\x1b" not in said


@pytest.mark.parametrize("command", JUDGING)
def test_what_a_recording_lacks_is_told_where_it_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.dinsight").write_bytes(GOLDEN.read_bytes() + b"torn")
    assert main(command.split()) == ExitCode.OK
    told = [line for line in capsys.readouterr().err.splitlines() if "is not whole" in line]
    assert told[0].startswith("dask-insight: run.dinsight is not whole: ")
    assert told[0].endswith("could not be read: the file ends within a frame")


def test_what_was_left_out_on_purpose_is_no_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    recording = Recording()
    row = {
        "time": 1.0,
        "source": "recorder",
        "kind": "lost",
        "level": "info",
        "message": "lines beyond a bound",
    }
    recording.append(encode("events", {name: [value] for name, value in row.items()}))
    recording.save("run.dinsight")
    assert main(["findings", "run.dinsight"]) == ExitCode.OK
    assert not capsys.readouterr().err
    assert main(["info", "run.dinsight"]) == ExitCode.OK
    assert "lines beyond a bound" in capsys.readouterr().out


def test_many_losses_are_told_in_a_few_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    recording = Recording()
    for number in range(9):
        recording.tell("lost", f"rows of\n\x1b[31m {number}")
    recording.save("run.dinsight")
    assert main(["findings", "run.dinsight"]) == ExitCode.OK
    *told, more = capsys.readouterr().err.splitlines()
    assert told == [f"dask-insight: run.dinsight is not whole: rows of \\x1b[31m {n}" for n in range(3)]
    assert more.endswith("has 6 more losses, which `dask-insight info run.dinsight` tells")
    assert main(["info", "run.dinsight"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert (out.count("rows of"), err) == (9, "")


def test_a_folder_and_what_may_not_be_read_are_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Windows only forbids to open a folder.
    assert main(["info", str(tmp_path)]) == ExitCode.UNREADABLE
    assert "is a folder: name a recording in it" in capsys.readouterr().err

    def forbid(path: str) -> Recording:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr("dask_insight.recording.open_recording", forbid)
    assert main(["info", str(tmp_path / "run.dinsight")]) == ExitCode.UNREADABLE
    assert "Permission denied" in capsys.readouterr().err


def test_report_without_a_browser(tmp_path: Path) -> None:
    write(tmp_path, "pass\n")
    run("run", "-q", "program.py", folder=tmp_path)
    screenless = {
        name: os.environ[name] for name in os.environ if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    }
    ended = subprocess.run(
        [*COMMAND, "report", "--open", "program.dinsight"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env={**screenless, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == ExitCode.FAILED
    assert "open " + str(tmp_path / "program.html") in ended.stderr


def test_info_in_a_pipe_that_closes(tmp_path: Path) -> None:
    write(tmp_path, LOCAL.format(scheduler="threads"))
    run("run", "-q", "program.py", folder=tmp_path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [*COMMAND, "info", "--json", "program.dinsight"],
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=LIMIT,
        env=environment,
    )
    os.close(writing)
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_output_that_nothing_has_room_for(tmp_path: Path) -> None:
    Recording().save(tmp_path / "run.dinsight")
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [*COMMAND, "info", "run.dinsight"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert ended.returncode == ExitCode.FAILED
    assert "its output could not be written" in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.skipif(not hasattr(errno, "EDQUOT"), reason="this system has no quotas")
def test_output_for_which_a_quota_has_no_room() -> None:
    code = """
        import errno, os, sys
        from dask_insight.hosts import cli

        def full(options):
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

        cli._COMMANDS = (cli.INFO._replace(execute=full),)
        sys.exit(cli.main(["info", "run.dinsight"]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ended.returncode == ExitCode.FAILED
    assert ended.stderr == f"dask-insight: its output could not be written: {os.strerror(errno.EDQUOT)}\n"


def test_warnings_are_shown_as_before_when_nothing_more_can_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where warnings are a context's own, from Python 3.14 on, to catch them restores filters alone."""
    monkeypatch.setattr(warnings, "filters", warnings.filters[:])
    monkeypatch.setattr(warnings, "catch_warnings", nullcontext)
    before = warnings.showwarning
    with lacking():
        assert warnings.showwarning is not before
    assert warnings.showwarning is before


def test_a_command_to_be_typed_has_its_path_in_quotes() -> None:
    assert shlex.split(quoted(Path("sp ace.dinsight"))) == ["sp ace.dinsight"]


def attach(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "attach", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.usefixtures("signals_by_default")
@pytest.mark.parametrize("how", ["duration", "interrupt", "terminate", "hang up", "gone"])
def test_attach(tmp_path: Path, how: str) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        limit = ["--duration", "3s"] if how == "duration" else []
        process = attach(tmp_path, cluster.scheduler_address, "--html", "out.html", *limit)
        assert process.stderr is not None
        assert "recording tcp://" in process.stderr.readline()
        assert sum(client.gather(client.map(abs, range(50)))) == 1225
        if how == "interrupt":
            process.send_signal(signal.SIGINT)
        elif how == "terminate":
            process.terminate()
        elif how == "hang up":
            process.send_signal(signal.SIGHUP)
        elif how == "gone":
            deadline = time.monotonic() + LIMIT
            while not tasks(open_recording(tmp_path / "cluster.dinsight")):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            client.close()
            cluster.close()
        _, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, errors
        assert "50 tasks" in errors
    recording = open_recording(tmp_path / "cluster.dinsight")
    assert tasks(recording) == ["abs"] * 50
    assert (tmp_path / "out.html").exists()


def test_no_device_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, "pass\n")
    run("run", "-q", "program.py", folder=tmp_path)
    recording, pipe = tmp_path / "program.dinsight", tmp_path / "pipe"
    os.mkfifo(pipe)
    for arguments in (
        ["run", "-o", pipe, "program.py"],
        ["run", "--html", pipe, "program.py"],
        ["report", recording, "-o", pipe],
        ["export", recording, "--to", "json", "--force", "-o", pipe],
        ["compare", recording, recording, "--html", pipe],
    ):
        ended = run(*arguments, folder=tmp_path)
        assert ended.returncode == ExitCode.UNWRITABLE, arguments
        assert "a device or a pipe" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert pipe.is_fifo()
    for method in (open_recording(recording).save, open_recording(recording).report):
        with pytest.raises(OSError, match="a device or a pipe"):
            method(pipe)
    with pytest.raises(OSError, match="a device or a pipe"):
        record(pipe).start()
    assert pipe.is_fifo()


def test_links_are_kept(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("run.dinsight", "run.html", "run.json"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    with record(tmp_path / "run.dinsight") as recording:
        pass
    recording.report(tmp_path / "run.html")
    recording.export(tmp_path / "run.json")
    for name in ("run.dinsight", "run.html", "run.json"):
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "elsewhere" / name).stat().st_size


def test_nothing_is_written_over_what_is_read_or_written(tmp_path: Path) -> None:
    write(tmp_path, "pass\n")
    assert run("run", "-q", "--html", "page.html", "program.py", folder=tmp_path).returncode == 0
    kept = (tmp_path / "program.dinsight").read_bytes()
    same, other = "program.dinsight", "other.dinsight"
    # So it is where capitals and small letters are the same.
    (tmp_path / other).hardlink_to(tmp_path / same)
    for arguments, code in (
        (["run", "-o", "one", "--html", "one", "program.py"], ExitCode.USAGE),
        (["report", same, "-o", same, "--force"], ExitCode.USAGE),
        (["export", same, "--to", "json", "-o", same, "--force"], ExitCode.USAGE),
        (["compare", same, same, "-o", same], ExitCode.USAGE),
        (["compare", same, same, "-o", other], ExitCode.USAGE),
        (["compare", same, same, "--html", "one", "--markdown", "one"], ExitCode.USAGE),
        (["import", same, "-o", same, "--force"], ExitCode.USAGE),
        (["demo", "-o", "one", "--html", "./one"], ExitCode.USAGE),
        (["run", "--html", same, "program.py"], ExitCode.UNWRITABLE),
        (["run", "-o", "page.html", "program.py"], ExitCode.UNWRITABLE),
    ):
        ended = run(*arguments, folder=tmp_path)
        assert ended.returncode == code, arguments
        assert ended.stderr.count("\n") == 1
    assert (tmp_path / same).read_bytes() == kept
    assert (tmp_path / "page.html").read_bytes().startswith(b"<!doctype html>")
    assert not (tmp_path / "one").exists()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_disk_that_is_full_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dask_insight.frames.create", lambda path: Writer(io.FileIO("/dev/full", "wb")))
    program = write(tmp_path, "print('never')\n")
    assert main(["run", "-o", str(tmp_path / "a.dinsight"), str(program)]) == ExitCode.UNWRITABLE
    told = capsys.readouterr()
    assert "No space left on device" in told.err
    assert told.err.count("\n") == 1
    assert not told.out
    assert not (tmp_path / "a.dinsight").exists()


@pytest.mark.parametrize("command", ["attach", "demo"])
def test_a_folder_that_cannot_be_written_is_told_in_a_line(
    command: str,
    client: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "it")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dask_insight.session.target.Target.__init__", refuse)
    given = [client.scheduler.address, "--duration", "30s"] if command == "attach" else []
    assert main([command, *given]) == ExitCode.UNWRITABLE
    (told,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("dask-insight: ")]
    assert told.endswith("cannot be written: [Errno 13] Permission denied: 'it'")


@pytest.mark.parametrize("before", ["", "import dask; "])
def test_a_program_that_leaves_at_once_has_a_recording_that_says_so(tmp_path: Path, before: str) -> None:
    write(tmp_path, f"{before}import os; os._exit(9)\n")
    assert run("run", "program.py", folder=tmp_path).returncode == 9
    left = open_recording(tmp_path / "program.dinsight")
    assert left.about.get("name") == ("program" if before else None)
    assert any("had not ended" in loss for loss in left.summary().losses)


@pytest.mark.parametrize("small", [True, False])
def test_a_disk_that_fills_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool) -> None:
    from dask import delayed

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "run.dinsight"
    if not small:
        monkeypatch.setattr("dask_insight.session.target.PACK_BYTES", 0)
    with lacking() as lacks:
        session = record(path, clusters=False)
        recording = session.start()
        monkeypatch.setattr("dask_insight.frames.save", full)
        monkeypatch.setattr(Writer, "write", full)
        assert delayed(abs)(-1).compute(scheduler="sync") == 1
        session.stop()
    (lack,) = lacks
    assert lack == "may lack the end of the recording: [Errno 28] No space left on device"
    assert outcome(recording, path, None, lacks).endswith(f"but {path} {lack}")
    assert tasks(recording) == ["abs"]


@pytest.mark.usefixtures("program_here")
@pytest.mark.parametrize("room", [True, False])
def test_what_a_full_disk_did_not_take_is_saved_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], room: bool
) -> None:
    def into(place: Any, batches: Any) -> None:
        if Path(place) == path or not room:
            full()
        save(place, batches)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    spare, path, save = tmp_path / "spare", tmp_path / "run.dinsight", dask_insight.frames.save
    spare.mkdir()
    # The program has the file filled up.
    monkeypatch.setattr("dask.fills_up", lambda: monkeypatch.setattr(Writer, "write", full), raising=False)
    monkeypatch.setattr("dask_insight.frames.save", into)
    spares = [str(tmp_path), str(tmp_path / "gone"), str(spare)]
    monkeypatch.setattr(Recording, "spare_folders", lambda _: spares)
    program = write(tmp_path, "import dask; dask.fills_up(); dask.delayed(abs)(-1).compute(scheduler='sync')")
    assert main(["run", "-o", str(path), str(program)]) == ExitCode.UNWRITABLE
    told = capsys.readouterr().err.replace(words.SPACE, " ")
    assert "No space left on device; it holds 0 of the 1 task; " in told
    if room:
        [saved] = spare.glob("dask-insight-*/run.dinsight")
        assert f"{saved} has all of it" in told
        assert tasks(open_recording(saved)) == ["abs"]
    else:
        assert "no temporary folder takes it: name a file on a disk with room" in told
        assert not list(spare.iterdir())
    assert not list(tmp_path.glob("dask-insight-*"))


def test_too_little_memory_to_count_what_a_file_holds_keeps_nobody_from_the_saved_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lack(*_: Any) -> Any:
        raise MemoryError

    spare, run = tmp_path / "spare", Recording()
    spare.mkdir()
    monkeypatch.setattr(Recording, "spare_folders", lambda _: [str(spare)])
    monkeypatch.setattr(Recording, "summary", lack)
    told = rescued(run, tmp_path / "run.dinsight", "is not whole")
    [saved] = spare.glob("dask-insight-*/run.dinsight")
    assert told == f"is not whole; {saved} has all of it"


def test_who_interrupts_the_rescue_of_a_recording_finds_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: Any, place: Any) -> None:
        Path(place).write_bytes(b"a part")
        raise KeyboardInterrupt

    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(Recording, "spare_folders", lambda _: [str(spare)])
    monkeypatch.setattr(Recording, "save", interrupt)
    with pytest.raises(KeyboardInterrupt):
        rescued(Recording(), tmp_path / "run.dinsight", "is not whole")
    assert not list(spare.iterdir())


def test_what_runs_where_no_task_has_ended_is_told(tmp_path: Path) -> None:
    path, run = tmp_path / "run.dinsight", Recording()
    run.append(encode("about", {"name": ["stopped"], "value": ["1750000006.0"]}))
    run.append(encode("graph", {"task": [0], "prefix": ["hang"], "submission": [NOTHING], "order": [0]}))
    place = {"worker": ["a"], "thread": ["1"], "start": [1_750_000_000.0]}
    run.append(encode("running", {"run": [7], "task": [0], **place}))
    run.save(path)
    told = outcome(run, path, None).replace(words.SPACE, " ")
    assert told.startswith(f"no Dask task ended: 1 was still running (`hang`, for 6 s); {path} holds")


def test_where_nothing_was_seen_it_is_told_when_dask_works_once_and_on_request(tmp_path: Path) -> None:
    path = tmp_path / "run.dinsight"
    with record(path, clusters=False) as recording:
        pass
    cured = outcome(recording, path, None, cured=True)
    assert cured.startswith("no Dask task was run; ")
    assert cured.endswith(f"\ndask-insight: {recording.summary().cure()}")
    assert "Dask works when" not in outcome(recording, path, None)


def test_a_disk_that_has_space_again_holds_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask import delayed

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "run.dinsight"
    with lacking() as lacks, record(path, clusters=False), monkeypatch.context() as patched:
        patched.setattr(Writer, "write", full)
        assert delayed(abs)(-1).compute(scheduler="sync") == 1
    assert not lacks
    assert tasks(open_recording(path)) == ["abs"]


def test_a_file_whose_place_cannot_be_taken_has_what_was_written_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask import delayed

    def open_elsewhere(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "the file is open in another program of Windows")

    path = tmp_path / "run.dinsight"
    with lacking() as lacks, monkeypatch.context() as patched:
        patched.setattr("dask_insight.frames.save", open_elsewhere)
        with record(path, clusters=False):
            assert delayed(abs)(-1).compute(scheduler="sync") == 1
    assert not lacks
    assert tasks(open_recording(path)) == ["abs"]
    assert open_recording(path).summary().losses == []


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ("tls://127.0.0.1:1", ExitCode.UNREACHABLE, "certificates"),
        ("scheduler.json", ExitCode.UNREACHABLE, "certificates"),
        ("notes.json", ExitCode.UNREADABLE, "no scheduler file"),
        ("list.json", ExitCode.UNREADABLE, "no scheduler file"),
        ("nope.json", ExitCode.UNREADABLE, "there is no file nope.json"),
        ("127.0.0.1", ExitCode.UNREACHABLE, "no scheduler answers"),
        # Certificates that everybody trusts are enough for it.
        ("wss://127.0.0.1:1", ExitCode.UNREACHABLE, "no scheduler answers at wss://127.0.0.1:1 "),
        ("gateway://gw:80/ns.name", ExitCode.UNREACHABLE, "dask_insight.record(client=cluster.get_client())"),
    ],
)
def test_attach_to_what_is_no_scheduler(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: str,
    code: ExitCode,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, '{"address": "tls://127.0.0.1:1"}', "scheduler.json")
    write(tmp_path, "not JSON", "notes.json")
    write(tmp_path, "[1]", "list.json")
    assert main(["attach", given, "--timeout", "200ms"]) == code
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert not list(tmp_path.glob("*.dinsight")), "a file that was to be a recording does not stay"


def test_a_scheduler_may_stand_behind_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["attach", "ws://127.0.0.1:1/jobs/7", "--timeout", "200ms"]) == ExitCode.UNREACHABLE
    told = capsys.readouterr().err
    assert "no scheduler answers at ws://127.0.0.1:1/jobs/7 " in told and "literal" not in told


@pytest.mark.parametrize("text", ["not JSON", "[1]", '{"workers": 3}'])
def test_a_file_that_never_becomes_a_scheduler_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dask_insight.hosts.cli.attach.sleep", pytest.fail)
    write(tmp_path, text, "notes.json")
    assert main(["attach", "notes.json"]) == ExitCode.UNREADABLE
    assert "notes.json is no scheduler file" in capsys.readouterr().err


def test_a_scheduler_file_that_is_yet_to_be_written_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = '{"type": "Scheduler", "address": "tls://127.0.0.1:1"}'
    written = iter(["", whole[:30], whole])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "dask_insight.hosts.cli.attach.sleep", lambda _: write(tmp_path, next(written), "scheduler.json")
    )
    assert main(["attach", "scheduler.json"]) == ExitCode.UNREACHABLE
    assert "tls://127.0.0.1:1 is encrypted" in capsys.readouterr().err


def test_a_scheduler_file_of_one_that_has_gone_is_read_again(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dask_insight.hosts.cli import attach as attaching

    def replaced(path: str, address: str) -> bool:
        write(tmp_path, json.dumps({"address": client.scheduler.address}), path)
        return names_another(path, address)

    names_another = attaching._names_another
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(attaching, "_names_another", replaced)
    write(tmp_path, '{"address": "tcp://127.0.0.1:1"}', "scheduler.json")
    assert main(["attach", "scheduler.json", "--duration", "100ms"]) == ExitCode.OK
    assert f"recording {client.scheduler.address}" in capsys.readouterr().err


def test_attach_to_a_cluster_that_refuses(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dask_insight.sources.cluster.source import ClusterRefused, ClusterSource

    async def refuse(self: ClusterSource, emit: Any) -> None:
        raise ClusterRefused("it takes\nno plugins")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ClusterSource, "start", refuse)
    assert main(["attach", client.scheduler.address]) == ExitCode.UNREACHABLE
    assert capsys.readouterr().err == "dask-insight: it takes no plugins\n"
    assert not list(tmp_path.iterdir())


def test_attach_tells_of_the_recording_where_the_report_fails(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dask_insight.hosts.report.write_report", full)
    given = ["attach", client.scheduler.address, "--duration", "100ms", "--html", "a.html"]
    assert main(given) == ExitCode.UNWRITABLE
    *_, trouble, told = capsys.readouterr().err.splitlines()
    assert trouble.startswith("dask-insight: the report could not be written: ")
    assert "cluster.dinsight holds" in told and "a.html" not in told
    recording = open_recording("cluster.dinsight")
    assert recording.about["stopped"]
    assert "attach" not in recording.summary().cure(), "nobody is told to do what was done"


def test_a_new_file_is_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert [new_path("cluster").name for _ in range(2)] == ["cluster.dinsight", "cluster-2.dinsight"]


def test_attach_to_what_accepts_and_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        assert main(["attach", address, "--timeout", "500ms"]) == ExitCode.UNREACHABLE
    told = capsys.readouterr().err
    assert "no scheduler answers" in told
    assert told.count("\n") == 1


def test_attach_to_what_speaks_another_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer() -> None:
        caller, _ = web.accept()
        with caller:
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            # Who asks is done with it first.
            while caller.recv(1024):
                pass

    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as web, ThreadPoolExecutor(1) as beside:
        beside.submit(answer)
        address = f"tcp://127.0.0.1:{web.getsockname()[1]}"
        assert main(["attach", address, "--timeout", "10s"]) == ExitCode.UNREACHABLE
    told = capsys.readouterr().err
    assert f"no scheduler answers at {address} (what answers there is no Dask)" in told
    assert told.count("\n") == 1


def test_attach_says_why_dask_here_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        dask.config.set({"distributed.comm.require-encryption": True}),
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        assert main(["attach", address, "--timeout", "10s"]) == ExitCode.UNREACHABLE
    told = capsys.readouterr().err
    assert f"no scheduler answers at {address} (encryption required by Dask configuration" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("closed", "gone"), [(["first"], False), (["second"], True), (["first", "second"], True), ([], False)]
)
def test_attach_calls_on_where_another_scheduler_came_after_one_that_closed(
    closed: list[str], gone: bool
) -> None:
    from dask_insight.hosts.cli.attach import _Closings

    recording = Recording()
    earlier = _Closings(recording)
    recording.append(encode("events", {"kind": ["lost"], "message": ["a follower failed"]}))
    for each in closed:
        recording.append(encode("events", {"kind": ["scheduler-closed"], "detail": [json.dumps(each)]}))
    for each in ["first", "second", "second"]:
        recording.append(encode("about", {"name": ["scheduler"], "value": [json.dumps({"id": each})]}))
    assert earlier.of_newest is _Closings(recording).of_newest is gone
    assert set(recording._merged) == {"about"}, "its events are not put together again and again"


@pytest.mark.parametrize(
    ("patience", "said"), [(0.0, "has not answered for "), (300.0, "has gone")], ids=["silent", "closed"]
)
def test_attach_tells_how_the_cluster_went(
    monkeypatch: pytest.MonkeyPatch, patience: float, said: str
) -> None:
    from dask_insight.hosts.cli import attach as attaching
    from dask_insight.hosts.cli.progress import Progress
    from dask_insight.hosts.cli.signals import Interrupt

    monkeypatch.setattr(attaching, "_TICK", 0.01)
    monkeypatch.setattr(attaching, "_CALLED", patience)
    client = SimpleNamespace(status="closed")
    with Interrupt() as interrupt:
        assert attaching._wait(Recording(), client, interrupt, None, Progress()).startswith(said)


def test_attach_counts_tasks_that_have_a_result_and_not_attempts() -> None:
    from dask_insight.hosts.cli import attach as attaching

    recording, said = Recording(), list[str]()

    class Growing:
        def wait(self, seconds: float) -> bool:
            if said:
                return True
            ended = {"run": range(4), "task": [0, 0, 0, 1], "status": ["stolen", "ok", "ok", "retried"]}
            recording.append(encode("graph", {"task": [0, 1]}))
            recording.append(encode("attempts", ended))
            return False

    client, progress = SimpleNamespace(status="running"), SimpleNamespace(live=True, show=said.append)
    attaching._wait(recording, client, Growing(), None, progress)  # type: ignore[arg-type]
    assert said == ["00:00  1 task"]


def test_attach_to_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distributed import LocalCluster

    monkeypatch.chdir(tmp_path)
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        (worker,) = cluster.scheduler_info["workers"]
        assert main(["attach", worker]) == ExitCode.UNREACHABLE
    assert "(a worker does)" in capsys.readouterr().err


def test_attach_to_a_scheduler_of_a_dask_that_does_not_understand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from distributed import LocalCluster, __version__

    monkeypatch.chdir(tmp_path)
    with LocalCluster(n_workers=0, dashboard_address=":0") as cluster:
        scheduler = cluster.scheduler
        identity = scheduler.identity
        # As it once was: without arguments.
        monkeypatch.setitem(scheduler.handlers, "identity", lambda: identity())
        assert main(["attach", cluster.scheduler_address]) == ExitCode.UNREACHABLE
    told = capsys.readouterr().err
    assert "does not understand" in told and f"distributed=={__version__}" in told


def test_sentences_on_a_terminal_are_broken_between_words() -> None:
    said = "warning: `score` waited for the lock in 40 % of its time (costs about 4 s)"
    code = "    client.submit(function, slow_item, priority=10)  # begins before the others"
    link = "https://docs.dask.org/en/stable/best-practices.html#processes-threads"
    row = "x                  0     10          –  50.9 ms    came  +127 ms"
    assert wrapped(f"{said}\n{code}\n{link}\n\n{row}", 40).split("\n") == [
        "warning: `score` waited for the lock in",
        "40 % of its time (costs about 4 s)",
        code,
        link,
        "",
        row,
    ]
    assert wrapped("rows       about 16, graph 369, edges 473, attempts 378", 40).split("\n") == [
        "rows       about 16, graph 369, edges",
        "           473, attempts 378",
    ]
    blanks = " " * 200_000
    assert wrapped(f"most time  9 s x  y{blanks}\tz", 40).startswith("most time  9 s x  y")
    assert wrapped("12. No tasks for 636 ms of 3.21 s", 24).split("\n") == [
        "12. No tasks for 636 ms",
        "    of 3.21 s",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("stage", ["load", "_save"])
def test_nothing_is_left_of_a_command_that_is_ended(tmp_path: Path, stage: str) -> None:
    (tmp_path / "trace.json").write_text('[{"ph": "X", "name": "f", "ts": 0, "dur": 1}]')
    code = f"""
        import os, signal, sys
        from dask_insight.hosts.cli import import_, main
        setattr(import_, {stage!r}, lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM))
        sys.exit(main(["import", "trace.json"]))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "")
    assert [each.name for each in tmp_path.iterdir()] == ["trace.json"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_a_pipe_is_refused_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert main(["import", str(tmp_path / "pipe"), "-o", str(tmp_path / "run.dinsight")]) != ExitCode.OK
    assert (
        "pipe is a pipe or a device, which cannot be searched: write it to a file" in capsys.readouterr().err
    )
