"""One run of ``%%dprofile``: what begins with the cell, and what stands under it afterwards."""

from __future__ import annotations

import sys
import uuid
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.error import UsageError

from ...analysis.compare import Comparison, compare
from ...frames import current_folder
from ...legible import harmless
from ...session import AsynchronousClient, record
from ..notebook import bundle, static_bundles
from ..runs import runs
from ..widget.outputs import requested_cell
from .arguments import Arguments
from .place import Place
from .progress import Progress
from .span import quiet_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...recording import Recording

#: Code that tells all findings of the run.
_ALL_FINDINGS = "_dprofile.findings()"


class Run:
    """Records from `start` to `stop`, shows how far it is, then the result, and keeps it.

    One that opens its cell, with nothing before it there, shows at once that it records.
    """

    def __init__(
        self,
        shell: Any,
        arguments: Arguments,
        client: Any,
        name: str,
        *,
        origin: str,
        opens_cell: bool = False,
    ) -> None:
        self._shell = shell
        self._arguments = arguments
        self._name = name
        self._origin = origin
        self._opens_cell = opens_cell
        # The cell may go to another folder.
        self._folder = current_folder()
        self._page = arguments.html and arguments.html.absolute()
        self._place = Place(shell)
        self._around = ExitStack()
        self._session: Any = None
        try:
            self._session = record(
                arguments.output,
                client,
                name,
                profile=arguments.profile,
                source=arguments.source,
                resources=arguments.resources,
                local=client is None,
            )
        except ValueError as error:
            raise UsageError(f"%%dprofile: {error}") from None

    def start(self) -> None:
        """Begin to record.

        Raises
        ------
        UsageError
            If the cluster cannot be recorded, or the file not be written.
        """
        with ExitStack() as given_up:
            given_up.callback(self._session.stop)
            try:
                self._session.start()
            except (OSError, TypeError, RuntimeError) as error:
                raise _refused(error) from None
            self._begun()
            given_up.pop_all()

    async def start_async(self) -> None:
        """Like `start`, from a coroutine."""
        async with AsyncExitStack() as given_up:
            given_up.push_async_callback(self._session.stop_async)
            try:
                await self._session.start_async()
            except (OSError, TypeError, RuntimeError) as error:
                raise _refused(error) from None
            self._begun()
            given_up.pop_all()

    def stop(self) -> Recording:
        """End the recording, keep it and show it; an interrupt meanwhile ends and keeps it all the same."""
        with self._settled():
            with ExitStack() as rest:
                rest.callback(self._keep)
                rest.callback(self._session.stop)
                self._ending()
            return self._shown()

    async def stop_async(self) -> Recording:
        """Like `stop`, from a coroutine."""
        with self._settled():
            async with AsyncExitStack() as rest:
                rest.callback(self._keep)
                rest.push_async_callback(self._session.stop_async)
                self._ending()
            return self._shown()

    def _begun(self) -> None:
        """Begin what is around the cell; all of it or nothing."""
        with ExitStack() as given_up:
            given_up.callback(self._settle)
            given_up.callback(self._ending)
            self._around.enter_context(quiet_span(self._name))
            if hasattr(self._shell, "kernel"):
                self._around.callback(self._place.watch())
                if _takes_updates(self._shell):
                    # Pages update nothing that an output widget within the cell has caught.
                    progress = Progress(
                        self._name, self._session.recording, self._place.put, at_once=self._opens_cell
                    )
                    self._around.callback(progress.stop)
                if self._arguments.panel:
                    self._open_panel(self._arguments.panel)
            given_up.pop_all()

    def _ending(self) -> None:
        # The cell may end in another context than that in which it began: its span has then ended with that.
        with suppress(ValueError):
            self._around.close()

    def _keep(self) -> None:
        recording = self._session.recording
        runs.keep(self._name, recording, origin=self._origin)
        self._shell.user_ns["_dprofile"] = recording

    @contextmanager
    def _settled(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._settle()

    def _settle(self) -> None:
        """Leave no progress under the cell where the end of the run was broken into."""
        if not self._place.taken:
            return
        kept = self._shell.user_ns.get("_dprofile") is self._session.recording
        ended = f"{self._name}: the recording has ended; it is kept as `_dprofile`."
        self._place.keep({"text/plain": harmless(ended)} if kept else {})

    def _shown(self) -> Recording:
        recording: Recording = self._session.recording
        try:
            self._place.keep(*self._results(recording))
        except Exception as error:
            message = harmless(f"%%dprofile: the result cannot be shown: {type(error).__name__}: {error}")
            if self._place.taken:
                self._place.keep({"text/plain": message})
            else:
                print(message, file=sys.stderr)
        return recording

    def _results(self, recording: Recording) -> list[dict[str, Any]]:
        """The outputs that stay under the cell."""
        arguments = self._arguments
        notes = [] if arguments.output is None else [f"Written to {arguments.output}."]
        summary = recording.summary()
        if not summary.has_tasks:
            notes += [] if arguments.html is None else [f"{arguments.html} was not written."]
            nothing = [f"{self._name}: No Dask computation ran here.", summary.cure(), *notes]
            return [{"text/plain": harmless(" ".join(filter(None, nothing)))}]
        comparison = self._compared(recording)
        shown = recording if comparison is None else comparison.beside(recording)
        page, told = self._reported(shown)
        notes += told
        if arguments.static:
            return static_bundles(shown, notes=notes, comparison=comparison, all_findings=_ALL_FINDINGS)
        aside = self._folder if hasattr(self._shell, "kernel") else None
        return [
            bundle(
                shown,
                notes=notes,
                whole=page,
                aside=aside,
                comparison=comparison,
                all_findings=_ALL_FINDINGS,
            )
        ]

    def _reported(self, shown: Recording) -> tuple[Path | None, list[str]]:
        """The page that was asked for, as it was named, and what to say of it."""
        html = self._arguments.html
        if html is None or self._page is None:
            return None, []
        try:
            shown.report(self._page)
        except (OSError, RuntimeError) as error:
            return None, [f"{html} was not written: {error}"]
        return html, [f"Written to {html}."]

    def _compared(self, recording: Recording) -> Comparison | None:
        baseline, name = self._arguments.baseline, self._arguments.compare
        if baseline is None or name is None:
            return None
        before = f"{name} before" if name == self._name else name
        return compare(baseline, recording, names=[before, self._name])

    def _open_panel(self, panel: str) -> None:
        """Ask a page that listens to open a panel; nothing of it stays in the notebook."""
        transient = {"display_id": f"dask-insight-open-{uuid.uuid4()}", "dask_insight": {"open": panel}}
        self._shell.display_pub.publish(data={}, metadata={}, transient=transient, update=True)


def _takes_updates(shell: Any) -> bool:
    """Whether what is shown can take the place of something; consoles would show neither.

    Notebooks can, and name the cell that they have run; Colab does not name it.
    What is captured is kept one after the other.
    """
    if isinstance(shell.display_pub, CapturingDisplayPublisher):
        return False
    return bool(requested_cell(shell)) or "google.colab" in sys.modules


def _refused(error: Exception) -> UsageError:
    if isinstance(error, AsynchronousClient):
        return UsageError("%dprofile: this client is asynchronous: write `%%dprofile` at the top of a cell")
    return UsageError(f"%%dprofile cannot record here: {error}")
