"""distributed's diagnostics under their own names, with a recording beside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any

import distributed
from distributed import get_client
from distributed.diagnostics import memory_sampler
from distributed.metrics import time

from ..recording import Recording
from ..session import Session, record
from .block import not_recorded
from .profile import profile

__all__ = ["MemorySampler", "get_task_stream", "performance_report", "profile"]


class MemorySampler(memory_sampler.MemorySampler):
    """`distributed.diagnostics.MemorySampler`, and each sampled block as a recording.

    A recording that cannot be made is a warning: the block and distributed's sampling go on.

    Attributes
    ----------
    samples
        Label to pairs of time (seconds since the epoch) and bytes, of the measure asked for.
    recordings
        Label to the `Recording` of that block; all measures of each worker are in its table ``memory``.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.recordings: dict[str, Recording] = {}

    def sample(
        self,
        label: str | None = None,
        *,
        client: Any = None,
        measure: str = "process",
        interval: float = 0.5,
    ) -> Any:
        """Sample the cluster's memory while a block runs.

        Parameters
        ----------
        label
            Name of the series; a random one by default.
        client
            The client; by default the current one. With an asynchronous one use ``async with``.
        measure
            process, managed, unmanaged, spilled, optimistic … as `distributed` names them.
        interval
            Seconds between two samples of that series.
        """
        client = client or get_client()
        sampled = super().sample(label, client=client, measure=measure, interval=interval)
        session = record(client=client, name=label, local=False)
        both = self._both_async if client.asynchronous else self._both
        return both(sampled, session, label)

    @contextmanager
    def _both(self, sampled: Any, session: Session, label: str | None) -> Iterator[None]:
        recording = _begun(session)
        try:
            with sampled:
                yield
        finally:
            self._keep(label, recording)
            session.stop()

    @asynccontextmanager
    async def _both_async(self, sampled: Any, session: Session, label: str | None) -> AsyncIterator[None]:
        recording = await _begun_async(session)
        try:
            async with sampled:
                yield
        finally:
            self._keep(label, recording)
            await session.stop_async()

    def _keep(self, label: str | None, recording: Recording | None) -> None:
        """Under the block's label, or the one that distributed has just given it."""
        told = label or next((name for name in reversed(self.samples) if name not in self.recordings), None)
        if told is not None and recording is not None:
            self.recordings[told] = recording


class performance_report:
    """Record a block and write it as one HTML file; in place of `distributed.performance_report`.

    Parameters
    ----------
    filename
        The file, or any URL that fsspec can write; ``.gz`` and the like are compressed.
    stacklevel
        Accepted as there; the report shows the client's line of every submission.
    mode
        Accepted as there; the report never loads anything from elsewhere.
    storage_options
        Given to `fsspec.open`.

    Attributes
    ----------
    recording
        What the report shows.
    """

    def __init__(
        self,
        filename: str = "dask-report.html",
        stacklevel: int = 1,
        mode: str | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.filename = filename
        self.stacklevel = stacklevel
        self.mode = mode
        self.storage_options = storage_options or {}
        self.recording: Recording | None = None
        self._session: Session | None = None

    def __enter__(self) -> performance_report:
        self._session = record(client=get_client(), local=False, logs="info")
        self.recording = self._session.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._write(self._session.stop())

    async def __aenter__(self) -> performance_report:
        self._session = record(client=get_client(), local=False, logs="info")
        self.recording = await self._session.start_async()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            self._write(await self._session.stop_async())

    def _write(self, recording: Recording) -> None:
        import fsspec

        from ..hosts.report import report_html

        # Before the file is opened, which empties one that is there.
        page = report_html(recording)
        with fsspec.open(
            self.filename, "w", compression="infer", encoding="utf-8", **self.storage_options
        ) as file:
            file.write(page)


class get_task_stream(distributed.get_task_stream):
    """`distributed.get_task_stream`, and the block as a recording.

    ``data`` and ``figure`` are distributed's own; `recording` has every attempt
    at every task of the block, also where distributed's stream has dropped some.
    A recording that cannot be made is a warning: the block and the stream go on.

    Attributes
    ----------
    recording
        What happened in the latest block; None before the first, and where that was not recorded.
    """

    def __init__(self, client: Any = None, plot: Any = False, filename: str = "task-stream.html") -> None:
        super().__init__(client=client, plot=plot, filename=filename)
        self.recording: Recording | None = None
        self._session: Session | None = None

    # `__enter__` and `__exit__` of newer versions of distributed run `__aenter__` and `__aexit__`.

    def __enter__(self) -> Any:
        entered = super().__enter__()  # type: ignore[no-untyped-call]
        if self._session is None:
            self._session = record(client=self.client, local=False)
            self.recording = _begun(self._session)
        return entered

    def __exit__(self, *error: Any) -> None:
        try:
            super().__exit__(*error)  # type: ignore[no-untyped-call]
        finally:
            if (session := self._ended()) is not None:
                session.stop()

    async def __aenter__(self) -> Any:
        # Older versions set it only in `__enter__`.
        self.start = time()
        self._session = record(client=self.client, local=False)
        self.recording = await _begun_async(self._session)
        try:
            return await super().__aenter__()  # type: ignore[no-untyped-call]
        except BaseException:
            if (session := self._ended()) is not None:
                await session.stop_async()
            raise

    async def __aexit__(self, *error: Any) -> None:
        try:
            await super().__aexit__(*error)  # type: ignore[no-untyped-call]
        finally:
            if (session := self._ended()) is not None:
                await session.stop_async()

    def _ended(self) -> Session | None:
        ended, self._session = self._session, None
        return ended


def _begun(session: Session) -> Recording | None:
    """The recording of a session that begins; None, with a warning, where it cannot."""
    try:
        return session.start()
    except Exception as error:
        not_recorded(error)
        return None


async def _begun_async(session: Session) -> Recording | None:
    """Like `_begun`, from a coroutine."""
    try:
        return await session.start_async()
    except Exception as error:
        not_recorded(error)
        return None
