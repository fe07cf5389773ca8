"""``dask-insight attach``: record a cluster that runs already."""

from __future__ import annotations

import argparse
import os
from time import monotonic
from typing import TYPE_CHECKING, Any

from ...errors import CommandError, ExitCode
from . import times
from .command import Command
from .files import new_path, writable, write_report
from .progress import Progress
from .run import outcome, recording_options
from .signals import Interrupt

if TYPE_CHECKING:
    from ...recording import Recording

_HELP = "record a running cluster until Ctrl-C"
_DESCRIPTION = """\
Record a running cluster, whoever uses it, until Ctrl-C, for a given time, or
until the cluster has gone. Nothing needs to be installed on the cluster, and
nothing stays there.
"""
_EXAMPLES = """\
examples:
  dask-insight attach tcp://10.0.0.1:8786
  dask-insight attach tcp://10.0.0.1:8786 -o night.dinsight --duration 8h
  dask-insight attach scheduler.json --duration 30s --html now.html
"""
_TICK = 0.5


def _arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("address", metavar="ADDRESS", help="the scheduler's address, or its scheduler file")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the recording; by default a new file, cluster.dinsight"
    )
    parser.add_argument("--html", metavar="FILE", help="write the report there, too")
    parser.add_argument(
        "--duration", metavar="TIME", type=times.seconds, help="end after this time: 30s, 5min, 1h"
    )
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=times.seconds,
        default=10.0,
        help="wait this long for an answer (default 10s)",
    )
    recording_options(parser)


def _execute(options: argparse.Namespace) -> int:
    """Run the command."""
    output = writable(options.output, options.force) if options.output else new_path("cluster")
    html = writable(options.html, options.force) if options.html else None
    progress = Progress()
    with _connect(options.address, options.timeout) as client, Interrupt() as interrupt:
        from ...session import record

        address = client.scheduler.address
        with record(
            output,
            client=client,
            name=options.name or address,
            profile=not options.no_profile,
            resources=options.resources,
            source=not options.no_source,
        ) as recording:
            until = f"for {options.duration:g} s" if options.duration else "until Ctrl-C"
            progress.line(f"recording {address} {until}")
            gone = _wait(recording, client, interrupt, options.duration, progress)
            progress.show("finishing")
    progress.clear()
    if gone:
        progress.line(f"{address} has gone; what came until then is recorded")
    if html is not None:
        write_report(recording, html)
    progress.line(outcome(recording, output, html))
    return ExitCode.OK


def _connect(address: str, timeout: float) -> Any:
    from distributed import Client
    from distributed.comm.addressing import parse_address, parse_host_port

    where = {"scheduler_file": address} if os.path.isfile(address) else {"address": address}
    try:
        if "address" in where:
            # A client that cannot read it takes 20 s to go away.
            parse_host_port(parse_address(address)[1])
        return Client(**where, timeout=timeout, set_as_default=False, name="dask-insight")
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CommandError(
            f"no scheduler answers at {address} ({reason}): check the address, which `dask scheduler` prints "
            "when it starts and `client.scheduler_info()['address']` knows",
            ExitCode.UNREACHABLE,
        ) from None


def _wait(
    recording: Recording, client: Any, interrupt: Interrupt, duration: float | None, progress: Progress
) -> bool:
    """Wait for the end; True if it is that the cluster has gone."""
    counter = _Counter(recording) if progress.live else None
    began = monotonic()
    while True:
        passed = monotonic() - began
        left = _TICK if duration is None else min(_TICK, duration - passed)
        if left <= 0 or interrupt.wait(left):
            return False
        if client.status == "closed":
            return True
        if counter is not None:
            minutes, seconds = divmod(int(passed), 60)
            progress.show(f"{minutes:02d}:{seconds:02d}  {counter.tasks:,} tasks")


class _Counter:
    """Counts the tasks that end while a recording grows."""

    def __init__(self, recording: Recording) -> None:
        self.tasks = 0
        recording.on_append(self._count)

    def _count(self, batch: bytes) -> None:
        from ...batch import decode, table_of

        if table_of(batch) == "attempts":
            self.tasks += decode(batch).rows


ATTACH = Command("attach", _HELP, _DESCRIPTION, _EXAMPLES, _arguments, _execute)
