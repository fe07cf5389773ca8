"""The questions that are asked of every recording, as rows that pages show and as the command says them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from graphs import START, Task, graphs, ran
from hypothesis import given, settings

from dask_insight import words
from dask_insight.analysis.what_if import Replay, table, usual
from dask_insight.analysis.what_if.simulation import simulate
from dask_insight.batch import encode
from dask_insight.hosts.cli import main
from dask_insight.recording import Recording

TREE = [
    *[Task("leaf", 1.0, nbytes=1e6)] * 4,
    Task("join", 0.5, [0, 1], nbytes=1e6),
    Task("join", 0.5, [2, 3], nbytes=1e6),
    Task("top", 0.25, [4, 5]),
]


def rows(recording: Recording) -> list[dict[str, Any]]:
    """The rows of the table, with the lists in them."""
    made = recording.table("what_if").to_dict("records")
    return [{**row, "tasks": json.loads(row["tasks"])} for row in made]


def by_question(recording: Recording) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows(recording):
        found.setdefault(row["question"], []).append(row)
    return found


def about(name: str, value: Any) -> dict[str, Any]:
    return {"about": {"name": [name], "value": [json.dumps(value)]}}


def test_first_the_run_and_its_bounds_then_the_answers() -> None:
    recording = ran(TREE, [1, 1])
    found, bounds = by_question(recording), recording.bounds()
    assert [row["question"] for row in rows(recording)][:5] == [
        "recorded",
        "longest",
        "spread",
        "most",
        "calibration",
    ]
    [took], [longest], [spread], [most] = (found[name] for name in ("recorded", "longest", "spread", "most"))
    assert took["seconds"] == bounds.seconds and took["text"] == bounds.verdict()
    assert (longest["seconds"], longest["value"]) == (bounds.longest, 3)
    assert longest["tasks"] == ["leaf", "join", "top"], "most seconds first"
    assert (spread["seconds"], spread["value"]) == (bounds.spread, 2)
    assert most["seconds"] == bounds.most
    assert math.isnan(took["error"]) and math.isnan(longest["low"])


def test_answers_are_those_that_a_person_gets_and_the_fastest_comes_first() -> None:
    recording = ran(TREE, [1, 1])
    answers = [row for row in rows(recording) if row["question"] in ("workers", "faster", "transfers")]
    assert [row["seconds"] for row in answers] == sorted(row["seconds"] for row in answers)
    by = {(row["question"], row["value"], *row["tasks"]): row for row in answers}
    asked: dict[Any, dict[str, Any]] = {
        ("workers", 4.0): {"workers": 4},
        ("workers", 1.0): {"workers": 1},
        ("faster", 2.0, "leaf"): {"faster": {"leaf": 2}},
        ("faster", 2.0, "join"): {"faster": {"join": 2}},
    }
    assert asked.keys() <= by.keys()
    for key, question in asked.items():
        answer, row = recording.what_if(**question), by[key]
        assert row["seconds"] == answer.seconds and row["error"] == answer.error
        assert row["text"] == answer.change


def test_no_question_is_asked_whose_answer_is_known() -> None:
    alone = by_question(ran([Task("read", 1.0)] * 3, [2]))
    assert "transfers" not in alone, "nothing is moved"
    assert "spilling" not in alone, "nothing was spilled"
    assert [row["value"] for row in alone["workers"]] == [2], "one worker cannot be halved"


def test_spilling_is_asked_about_where_it_was() -> None:
    phase = {"run": [0], "action": ["disk-read"], "start": [START], "stop": [START + 0.5]}
    executions = {"run": [0], "worker": ["w0"], "executing": [START], "start": [START + 1.0]}
    recording = ran([Task("read", 2)], phases=phase, executions=executions)
    assert by_question(recording)["spilling"][0]["seconds"] < recording.bounds().seconds


def test_chunks_are_asked_about_where_most_of_the_work_is_made_from_one_chunk_each() -> None:
    chain = [*[Task("load", 1.0)] * 4, *[Task("clean", 0.5, [number]) for number in range(4)]]
    values = sorted(row["value"] for row in by_question(ran(chain, [2]))["chunks"])
    assert values == [0.5, 2.0]
    mixed = [Task("load", 0.1), Task("load", 0.1), Task("mix", 5.0, [0, 1])]
    assert "chunks" not in by_question(ran(mixed, [2]))


def test_threads_are_asked_about_where_there_is_one_process() -> None:
    recording = ran([Task("read", 1.0)] * 4)
    attempts = recording.columns("attempts")
    local = {name: values.tolist() for name, values in attempts.items()} | {"worker": ["threads"] * 4}  # type: ignore[union-attr]
    found = by_question(
        ran(
            [Task("read", 1.0)] * 4,
            attempts=local,
            executions={"run": [0], "worker": ["threads"]},
            workers={"worker": ["threads"], "threads": [2], "joined": [START]},
        )
    )
    assert sorted(row["value"] for row in found["threads"]) == [1, 4]
    assert "workers" not in found


def test_large_recordings_are_asked_less_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = ran(TREE, [1, 1])
    replay = Replay(recording.columns, recording.about)
    whole = usual(replay)
    assert whole.left == 0
    # The calibration and two questions: the weightiest.
    some = usual(replay, 3 * replay.tasks)
    assert [question.kind for question, _ in some.answers if question.kind == "workers"] == ["workers"]
    assert len(some.answers) == 2 and some.left == len(whole.answers) - 2
    monkeypatch.setattr(table, "MOST", 2 * replay.tasks - 2)
    found = by_question(ran(TREE, [1, 1]))
    assert set(found) == {"recorded", "longest", "spread", "most", "gap"}
    assert "7 tasks would take long to simulate: `run.what_if(…)` does it." in found["gap"][0]["text"]


def test_where_idle_workers_look_long_for_tasks_less_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task("seed", 1.0, nbytes=8), *[Task("grow", 1.0, [0])] * 8]
    recording = ran(tasks, [1] * 4)
    whole = Replay(recording.columns, recording.about)
    looks = simulate(whole.model, whole.setting).looks
    assert looks > 0
    some = usual(Replay(recording.columns, recording.about, looks=looks))
    assert some.left > 0 and some.known.calibration > 0, "what it has left is too few for the first question"
    monkeypatch.setattr(table, "LOOKS", 0)
    found = by_question(ran(tasks, [1] * 4))
    assert set(found) == {"recorded", "longest", "spread", "most", "gap"}
    assert "9 tasks would take long to simulate: `run.what_if(…)` does it." in found["gap"][0]["text"]


def test_files_of_other_tools_without_edges_are_not_simulated() -> None:
    recording = ran([Task("read", 1.0)] * 3, **about("source", "Chrome trace"))
    found = by_question(recording)
    assert "workers" not in found and "recorded" in found
    assert found["gap"][0]["text"] == ("This recording (Chrome trace) does not tell which task needs which.")
    with pytest.raises(ValueError, match="which task needs which"):
        recording.what_if(workers=2)
    with_edges = ran(TREE, [1, 1], **about("source", "Chrome trace"))
    assert "workers" in by_question(with_edges)


def test_tasks_that_nobody_says_when_they_were_submitted() -> None:
    attempts = ran(TREE, [1, 1]).columns("attempts")
    plain = {name: values.tolist() for name, values in attempts.items()}  # type: ignore[union-attr]
    kept = {
        name: plain[name] for name in ("run", "task", "worker", "thread", "status", "start", "stop", "done")
    }
    recording = ran(TREE, [1, 1], attempts=kept, submissions={"submission": [], "time": []})
    assert recording.what_if().recorded == pytest.approx(recording.bounds().seconds)


def test_failed_and_unended_tasks_are_told() -> None:
    columns = ran(TREE, [1, 1]).columns("attempts")
    attempts = {name: values.tolist() for name, values in columns.items()}  # type: ignore[union-attr]
    attempts["status"][-1] = "erred"
    running = {"run": [99], "task": [6], "worker": ["w0"], "thread": ["0"], "start": [START + 9]}
    notes = [row["text"] for row in by_question(ran(TREE, [1, 1], attempts=attempts))["note"]]
    assert notes == ["1 task failed: what needed it never ran and is not in this."]
    cut = by_question(ran(TREE, [1, 1], running=running))
    assert cut["note"][0]["text"] == "1 task had not ended when the recording did: left out."


def test_time_in_which_a_person_thought_is_left_out() -> None:
    """Two cells, and a minute between them: more workers do not make the person think faster."""
    tasks = [*[Task("read", 1.0)] * 4, *[Task("read", 1.0, submission=1)] * 4]
    cells = {
        "execution": [1, 2],
        "start": [START, START + 64],
        "stop": [START + 4, START + 68],
        "status": ["ok", "ok"],
    }
    run = ran(tasks, [1], pauses=[60.0], cells=cells)
    assert run.bounds().seconds == pytest.approx(8)
    found = run.what_if(workers=2)
    assert (found.recorded, found.seconds) == pytest.approx((8, 4), rel=0.01)
    assert found.notes[0] == f"{words.duration(60.0)} in which nobody waited for a result are left out"
    waited_for = ran(tasks, [1], pauses=[60.0])
    assert waited_for.what_if(workers=2).seconds == pytest.approx(64, rel=0.01), "a program does not think"
    hours = ran(tasks, [1], pauses=[3600.0])
    assert hours.what_if().recorded == pytest.approx(8), "but nobody waits for minutes without a task"
    running = {"run": [99], "task": [99], "worker": ["w0"], "thread": ["1"], "start": [START + 1]}
    hung = ran(tasks, [1], pauses=[3600.0], running=running)
    assert hung.bounds().seconds == pytest.approx(3608), "but for one that runs still"


def test_nothing_has_ended() -> None:
    assert rows(Recording()) == []
    recording = Recording()
    running = {"run": [1], "task": [1], "worker": ["w"], "thread": ["1"], "start": [START]}
    recording.append(encode("running", running))
    [gap] = rows(recording)
    assert gap["question"] == "gap" and gap["text"].startswith("No task ended in this recording")


@given(graphs())
@settings(max_examples=30, deadline=None)
def test_any_graph_gives_rows(tasks: list[Task]) -> None:
    recording = ran(tasks, [1, 2], pauses=[0.5] * len(tasks))
    for row in rows(recording):
        assert row["question"]
        if row["question"] not in ("note", "gap"):
            assert row["seconds"] >= 0
        if row["low"] == row["low"]:
            assert row["low"] <= row["seconds"] <= row["high"]


# The command.


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "run.dinsight"
    ran(TREE, [1, 1]).save(path)
    return str(path)


def test_the_command_says_bounds_and_the_usual_answers(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", file]) == 0
    said = capsys.readouterr().out
    recording = ran(TREE, [1, 1])
    assert recording.bounds().verdict() in said
    assert recording.what_if().trust() in said
    assert recording.what_if(workers=4).verdict() in said
    assert recording.what_if(faster={"leaf": 2}).verdict() in said


def test_the_command_answers_one_question(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--workers", "4", "--threads", "2", "--faster", "leaf=2", "--faster", "join=1/2"]
    assert main(["what-if", *asked, "--no-transfers", "--no-spilling", file]) == 0
    expected = ran(TREE, [1, 1]).what_if(
        workers=4, threads=2, faster={"leaf": 2, "join": 0.5}, transfers=False, spilling=False
    )
    assert capsys.readouterr().out == f"{expected}\n"


def test_the_command_gives_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", "--json", file]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bounds"]["longest"] == pytest.approx(1.75)
    assert [each["prefix"] for each in told["bounds"]["chain"]] == ["leaf", "join", "top"]
    assert told["calibration"]["trusted"] is True
    assert {each["kind"] for each in told["answers"]} >= {"workers", "faster"}
    assert all(each["seconds"] > 0 for each in told["answers"])
    assert main(["what-if", "--json", "--workers", "3", file]) == 0
    answer = json.loads(capsys.readouterr().out)["answer"]
    assert answer["workers"] == 3 and answer["cores"] is None, "what is not known is null"


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (["--faster", "nothing=2"], 2, "no task name 'nothing'"),
        (["--chunks", "1.5"], 2, "2, 3"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(
    file: str, asked: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["what-if", *asked, file]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "asked", [["--workers", "0"], ["--faster", "leaf"], ["--faster", "=2"], ["--chunks", "1/0"]]
)
def test_the_command_line_must_be_right(
    file: str, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["what-if", *asked, file])
    assert "what-if" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [[], ["--workers", "4"]])
@pytest.mark.parametrize("said", ["no task ended", "does not tell which task needs which"])
def test_the_command_has_nothing_to_say_of_what_cannot_be_replayed(
    said: str, asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = Recording() if said == "no task ended" else ran(TREE[:1], **about("source", "a report"))
    path = tmp_path / "run.dinsight"
    recording.save(path)
    assert main(["what-if", *asked, str(path)]) == 1
    assert said in capsys.readouterr().err
