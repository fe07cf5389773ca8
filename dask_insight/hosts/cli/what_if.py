"""``dask-insight what-if``: how much faster a run could be, and what would make it so."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import CommandError, ExitCode
from .command import Command
from .files import open_run
from .json_ import as_json
from .progress import saying
from .prose import tell

if TYPE_CHECKING:
    from ...analysis.what_if import Replay
    from ...recording import Recording

_HELP = "say how much faster the run could be, and what would make it so"
_DESCRIPTION = """\
Say how much faster a recorded run could have been: its bounds (work over threads, the longest chain of
tasks), and how long it would take otherwise, by replaying its graph on a simulated cluster with Dask's own
order and placement. Without a question the usual ones are asked.
"""
_EXAMPLES = """\
examples:
  dask-insight what-if train.dinsight
  dask-insight what-if --workers 8 train.dinsight
  dask-insight what-if --faster read_parquet=2 --no-transfers train.dinsight
  dask-insight what-if --chunks 1/2 --json train.dinsight | jq .answer.seconds

Several options are one question. Every answer says how far the same simulation is off the recorded run; where
that is more than 15 %, the answer is a range.
"""


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("file", metavar="FILE", help="a recording, *.dinsight")
    asked = parser.add_argument_group("what if")
    asked.add_argument("--workers", metavar="N", type=_count, help="there were N workers")
    asked.add_argument("--threads", metavar="N", type=_count, help="each worker had N threads")
    asked.add_argument(
        "--faster",
        metavar="NAME=TIMES",
        action="append",
        default=[],
        type=_faster,
        help="the tasks NAME were TIMES as fast, 0.5 for half as fast; may be given several times",
    )
    asked.add_argument("--no-transfers", action="store_true", help="data were everywhere at once")
    asked.add_argument("--no-spilling", action="store_true", help="no task waited for a worker's disk")
    asked.add_argument(
        "--chunks",
        metavar="TIMES",
        type=_times,
        help="chunks were 2, 3 … times as large, or 1/2, 1/3 …, where the graph tells how",
    )
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="where several were recorded: the one that is asked about; without it, all are asked the usual "
        "questions, and other questions are about the one with most work",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return number


def _times(text: str) -> float:
    above, slash, below = text.partition("/")
    try:
        number = float(above) / float(below) if slash else float(above)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, such as 2 or 1/2")
    return number


def _faster(text: str) -> tuple[str, float]:
    name, equals, times = text.rpartition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=TIMES, such as read_parquet=2")
    return name, _times(times)


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    recording = open_run(options.file)
    changes = {
        "workers": options.workers,
        "threads": options.threads,
        "faster": dict(options.faster) or None,
        "transfers": False if options.no_transfers else None,
        "spilling": False if options.no_spilling else None,
        "chunks": options.chunks,
    }
    asked = {name: value for name, value in changes.items() if value is not None}
    with saying("Simulating"):
        told = _answer(recording, options.cluster, asked) if asked else _usual_of(recording, options.cluster)
    if options.json:
        print(as_json({name: value for name, value in told.items() if name != "text"}))
    else:
        tell(told["text"])
    return ExitCode.OK


@contextmanager
def _or_end_with(code: ExitCode) -> Iterator[None]:
    """What cannot be answered ends the command so."""
    try:
        yield
    except ValueError as error:
        raise CommandError(str(error), code) from None


def _replay(recording: Recording, cluster: str | None) -> Replay:
    from ...analysis.what_if import Replay
    from ...timeline import one_cluster

    with _or_end_with(ExitCode.USAGE):
        one_cluster(recording.columns, cluster)
    with _or_end_with(ExitCode.FAILED):
        return Replay(recording.columns, recording.about, cluster)


def _answer(recording: Recording, cluster: str | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    replay = _replay(recording, cluster)
    with _or_end_with(ExitCode.USAGE):
        answer = replay.ask(**asked)
    return {"text": str(answer), "answer": answer.to_dict()}


def _usual_of(recording: Recording, cluster: str | None) -> dict[str, Any]:
    """The usual questions to one cluster, or to all, of which the others are told beside the first."""
    from ...timeline import UNNAMED, by_cluster

    told: list[dict[str, Any]] = []
    refused: dict[str, CommandError] = {}
    for each in by_cluster(recording.columns) if cluster is None else [cluster]:
        try:
            told.append(_usual(recording, each))
        except CommandError as error:
            refused[each or UNNAMED] = error
    if not told:
        raise next(iter(refused.values()))
    first, *others = told
    others += [{"text": f"{name}: {why}", "cluster": name, "why": str(why)} for name, why in refused.items()]
    text = "\n\n\n".join(each["text"] for each in (first, *others))
    plain = [{name: value for name, value in each.items() if name != "text"} for each in others]
    return first | {"text": text} | ({"others": plain} if others else {})


def _usual(recording: Recording, cluster: str) -> dict[str, Any]:
    from ...analysis.what_if import usual

    replay = _replay(recording, cluster)
    with _or_end_with(ExitCode.FAILED):
        found = usual(replay, most=sys.maxsize)
    bounds = recording.bounds(cluster=cluster)
    lines = [str(bounds), "", found.known.trust(), ""]
    lines += [answer.verdict() for _, answer in found.answers]
    notes = [*found.notes, *(note for _, answer in found.answers for note in answer.notes)]
    lines += ["", *(f"Note: {note}" for note in dict.fromkeys(notes))] if notes else []
    answers = [each._asdict() | answer.to_dict() for each, answer in found.answers]
    known = found.known.to_dict() | {"verdict": found.known.trust()}
    return {
        "text": "\n".join(lines),
        "bounds": bounds.to_dict(),
        "calibration": known,
        "answers": answers,
        "notes": list(found.notes),
    }


WHAT_IF = Command("what-if", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
