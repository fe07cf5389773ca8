"""``dask-insight attach``: record a cluster that runs already."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from inspect import signature
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from ... import words
from ...errors import CommandError, ExitCode
from . import times
from .command import Command
from .files import apart, lacking, recorded, recording_file, rescued, trouble_with_report, writable
from .progress import Progress, saying
from .renewal import check, renewed, report_options
from .run import outcome, recording_arguments, recording_options
from .signals import Interrupt

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "record a running cluster until Ctrl-C"
_DESCRIPTION = """\
Record a running cluster, whoever uses it, until Ctrl-C, for a given time, or
until the cluster has gone. One that does not answer any more is called for five
minutes, or for the given time where that is longer, and goes on when it comes
back. Nothing needs to be installed on the cluster, and nothing stays there.
"""
_EXAMPLES = """\
examples:
  dask-insight attach tcp://10.0.0.1:8786
  dask-insight attach tcp://10.0.0.1:8786 -o night.dinsight --duration 8h
  dask-insight attach scheduler.json --duration 30s --html now.html
  dask-insight attach scheduler.json --html now.html --every 30s     to watch it
"""
_TICK = 0.5
#: Least seconds for which a cluster that answers no more is called, and seconds of one call: in it the pauses
#: between attempts grow.
_CALLED, _CALL = 300.0, 30.0
#: Seconds between two looks at a scheduler file.
_LOOK = 0.1
#: What bytes of another protocol raise, which pass for lengths, keys and numbers.
_MISREAD = (MemoryError, OverflowError, LookupError, AttributeError, AssertionError, struct.error)
#: Errors whose words need no name.
_PLAIN = (OSError, ValueError, TypeError, ImportError, RuntimeError)


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("address", metavar="ADDRESS", help="the scheduler's address, or its scheduler file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="the recording, instead of an earlier one of that name; by default a new file, cluster.dinsight",
    )
    report_options(parser)
    parser.add_argument(
        "--duration", metavar="TIME", type=times.seconds, help="end after this time: 30s, 5min, 1h"
    )
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=times.seconds,
        default=10.0,
        help="wait this long for the file, and for an answer (default 10s)",
    )
    recording_options(parser)


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    check(options)
    html = writable(options.html, options.force, text=True) if options.html else None
    with recording_file(options.output, "cluster", options.force, grows=True) as output:
        apart(output, html)
        return _record(options, output, html)


def _record(options: argparse.Namespace, output: Path, html: Path | None) -> int:
    progress = Progress()
    with (
        _hushed(),
        _connect(options.address, options.timeout) as client,
        Interrupt() as interrupt,
        lacking() as lacks,
    ):
        from ...session import record

        address = client.scheduler.address
        session = record(
            output,
            client=client,
            name=options.name or address,
            **recording_arguments(options),
        )
        with (
            # The recording is complete before a report that is being written is waited for.
            renewed(html, options.every, lambda: session.recording, progress.line),
            recorded(session, output) as recording,
        ):
            until = f"for {words.duration(options.duration)}" if options.duration else "until Ctrl-C"
            progress.line(f"recording {address} {until}")
            with _patient(client, options.duration or 0.0):
                gone = _wait(recording, client, interrupt, options.duration, progress)
            progress.show("finishing")
    progress.clear()
    if gone:
        progress.line(f"{address} {gone}; what came until then is recorded")
    code = ExitCode.UNWRITABLE if lacks else ExitCode.OK
    lacks = [rescued(recording, output, lack) for lack in lacks]
    if html and (trouble := trouble_with_report(recording, html)):
        progress.line(f"dask-insight: {trouble}")
        html, code = None, trouble.code
    progress.line(outcome(recording, output, html, lacks))
    return code


def _connect(given: str, timeout: float) -> Any:
    if not os.path.isfile(given) and not given.endswith(".json"):
        return _client(given, timeout)
    client = None
    while client is None:
        address = _in_coming_file(given, timeout)
        client = _client(address, timeout, partial(_names_another, given, address))
    return client


def _client(address: str, timeout: float, moved: Callable[[], bool] = lambda: False) -> Any:
    """A client of the scheduler at an address; None where that has moved before it answered."""
    from distributed import Client
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        # A client that cannot use it takes 20 s to go away, and complains.
        protocol, place = parse_address(address)
        _check_protocol(protocol, address)
        parse_host_port(place.partition("/")[0])
        kind = asyncio.run(_kind_unless(moved, address, timeout))
        if kind is None:
            return None
        if kind != "Scheduler":
            raise ValueError(f"a {kind.lower()} does")
        return Client(address, timeout=timeout, set_as_default=False, name="dask-insight")
    except CommandError:
        raise
    except Exception as error:
        raise CommandError(
            f"no scheduler answers at {address} ({_reason(error, timeout)}): check the address, "
            "which `dask scheduler` prints when it starts and `client.scheduler_info()['address']` knows",
            ExitCode.UNREACHABLE,
        ) from None


def _reason(error: Exception, timeout: float) -> str:
    """Why nothing that could be asked answers, in one line."""
    from msgpack.exceptions import ExtraData, FormatError, StackError, UnpackException

    if isinstance(error, (*_MISREAD, ExtraData, FormatError, StackError, UnpackException)):
        return "what answers there is no Dask"
    if not str(error):
        late = isinstance(error, TimeoutError)
        return f"none within {words.duration(timeout)}" if late else type(error).__name__
    said = str(error).splitlines()[0]
    return said if isinstance(error, _PLAIN) else f"{type(error).__name__}: {said}"


async def _kind_unless(moved: Callable[[], bool], address: str, timeout: float) -> str | None:
    asking = asyncio.ensure_future(asyncio.wait_for(_kind(address, timeout), timeout))
    while not (await asyncio.wait([asking], timeout=_LOOK))[0]:
        if moved():
            return None
    return asking.result()


async def _kind(address: str, timeout: float) -> str:
    """What answers there. A client would wait for a process that accepts connections and stands still."""
    from distributed import Scheduler, __version__
    from distributed.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=timeout, **Security().get_connection_args("client"))

    async def ask(call: str, **arguments: Any) -> Any:
        await comm.write({"op": call, "reply": True, **arguments})
        return await comm.read()

    try:
        kind = str((await ask("identity"))["type"])
        # As clients of this version do, who wait for 20 s where they are not understood.
        count = {"n_workers": 0} if "n_workers" in signature(Scheduler.identity).parameters else {}
        if kind == "Scheduler" and "type" not in await ask("identity", **count):
            theirs = (await ask("versions"))["packages"]["distributed"]
            raise CommandError(
                f"the scheduler at {address} has distributed {theirs} and does not understand a client of "
                f"{__version__}, which is here: `pip install distributed=={theirs} dask=={theirs}`",
                ExitCode.UNREACHABLE,
            )
        return kind
    finally:
        comm.abort()


class _NotYet(CommandError):
    """A scheduler file is not there, or the beginning of one is."""


def _in_coming_file(path: str, timeout: float) -> str:
    """The address in a scheduler file, which a scheduler that begins as well may have yet to write."""
    deadline = monotonic() + timeout
    with saying(f"Waiting for {path}"):
        while True:
            try:
                return _in_file(path)
            except _NotYet:
                if monotonic() >= deadline:
                    raise
            sleep(_LOOK)


def _names_another(path: str, address: str) -> bool:
    """Whether a scheduler has taken the place of the one at an address, which need not have tidied up."""
    with suppress(CommandError):
        return _in_file(path) != address
    return False


def _in_file(path: str) -> str:
    """The address that stands in a scheduler file."""
    told = f"{path} is no scheduler file: `dask scheduler --scheduler-file FILE` writes one"
    text = ""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return str(json.loads(text)["address"])
    except FileNotFoundError:
        raise _NotYet(f"there is no file {path}", ExitCode.UNREADABLE) from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}", ExitCode.UNREADABLE) from None
    except json.JSONDecodeError:
        begun = text.lstrip()[:1] in ("", "{")
        raise (_NotYet if begun else CommandError)(told, ExitCode.UNREADABLE) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise CommandError(told, ExitCode.UNREADABLE) from None


def _check_protocol(protocol: str, address: str) -> None:
    from distributed.comm.registry import get_backend
    from distributed.security import Security

    try:
        get_backend(protocol)
    except ValueError:
        raise CommandError(
            f"{address}: this Dask has no protocol {protocol}: check the address; what clients in Python "
            "alone reach, as of Dask Gateway, record there: dask_insight.record(client=cluster.get_client())",
            ExitCode.UNREACHABLE,
        ) from None
    # `wss` goes by the certificates that the system trusts as well.
    if protocol == "tls" and Security().get_connection_args("client").get("ssl_context") is None:
        raise CommandError(
            f"{address} is encrypted: name your certificates in Dask's configuration, distributed.comm.tls "
            "(ca-file, client.cert, client.key), or the environment, DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
            "…__CLIENT__CERT and …__CLIENT__KEY",
            ExitCode.UNREACHABLE,
        )


@contextmanager
def _hushed() -> Iterator[None]:
    """Within, Dask does not tell that a client has lost its scheduler, in many lines: the command does."""
    logger = logging.getLogger("distributed.client")
    logger.addFilter(_nothing)
    try:
        yield
    finally:
        logger.removeFilter(_nothing)


def _nothing(record: logging.LogRecord) -> bool:
    return False


@contextmanager
def _patient(client: Any, seconds: float) -> Iterator[None]:
    """Within, a client that has lost its scheduler calls it for so long, and not only as long as at first."""
    at_first, call = client._timeout, client._ensure_connected

    async def briefly(timeout: float) -> None:
        await call(timeout=min(timeout, _CALL))

    client._timeout, client._ensure_connected = max(_CALLED, seconds), briefly
    try:
        yield
    finally:
        # To close it takes as long, too.
        client._timeout = at_first


def _wait(
    recording: Recording, client: Any, interrupt: Interrupt, duration: float | None, progress: Progress
) -> str:
    """Wait for the end; what the cluster did if that was the reason, else ''."""
    counter = _Counter(recording) if progress.live else None
    closings = _Closings(recording)
    began = answered = monotonic()
    while True:
        passed = monotonic() - began
        left = _TICK if duration is None else min(_TICK, duration - passed)
        if left <= 0 or interrupt.wait(left):
            return ""
        if client.status == "running":
            answered = monotonic()
        elif closings.of_newest:
            return "has gone"
        elif client.status == "closed":
            since = monotonic() - answered
            return "has gone" if since < _CALLED else f"has not answered for {words.duration(since)}"
        if counter is not None:
            minutes, seconds = divmod(int(passed), 60)
            silent = "" if client.status == "running" else ", no answer"
            progress.show(f"{minutes:02d}:{seconds:02d}  {words.count(counter.ends.done, 'task')}{silent}")


class _Closings:
    """Notes the schedulers that close while a recording grows."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._closed: set[str] = set()
        recording.on_append(self._note)
        for batch in recording.batches():
            self._note(batch)

    @property
    def of_newest(self) -> bool:
        """Whether the newest scheduler has: those before it were replaced while the client called."""
        return json.dumps((self._recording.about.get("scheduler") or {}).get("id")) in self._closed

    def _note(self, batch: bytes) -> None:
        from ...batch import decode, table_of

        if table_of(batch) == "events":
            columns: Any = decode(batch, ("kind", "detail")).columns
            if "detail" in columns:
                told = zip(columns["kind"].tolist(), columns["detail"].tolist(), strict=True)
                self._closed.update(detail for kind, detail in told if kind == "scheduler-closed")


class _Counter:
    """Counts the tasks that have a result while a recording grows."""

    def __init__(self, recording: Recording) -> None:
        from ...session.ends import Ends

        self.ends = Ends()
        recording.on_append(self._count)

    def _count(self, batch: bytes) -> None:
        from ...batch import decode, table_of
        from ...session.ends import READ

        if (table := table_of(batch)) in READ:
            self.ends.take(table, decode(batch, READ[table]).columns)


ATTACH = Command("attach", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
