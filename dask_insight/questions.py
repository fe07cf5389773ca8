"""What a recording can be asked: one method for each question, answered by `analysis/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from . import arguments
from .columns import steady
from .current import current
from .store import Store

if TYPE_CHECKING:
    import pandas as pd

    from .analysis.bounds import Bounds
    from .analysis.findings import Findings
    from .analysis.overview import Overview
    from .analysis.shape import Shape
    from .analysis.what_if import WhatIf
    from .answers import Answers


class Questions(Store):
    """The questions that `Recording` answers; what answers them is imported when it is asked."""

    if TYPE_CHECKING:
        _answers: Answers

        @property
        def about(self) -> dict[str, Any]:
            """Facts about the recording as a whole."""

        @property
        def started(self) -> float:
            """When its seconds begin, since the epoch."""

        def slice(self, start: float | None, stop: float | None) -> Questions:
            """What happened between two moments."""

    @current
    def flame(
        self,
        prefix: str | Sequence[str] | None = None,
        *,
        worker: str | Sequence[str] | None = None,
        start: float | None = None,
        stop: float | None = None,
        task: str | tuple[Any, ...] | None = None,
        run: int | None = None,
        lines: bool = False,
    ) -> pd.DataFrame:
        """Sampled call stacks, merged into one tree: the numbers of a flame graph.

        Parameters
        ----------
        prefix
            Only samples taken while a task of this name ran, or of one of these.
        worker
            Only these processes: workers, by name or address, ``'scheduler'`` or
            ``'client'``. By default all samples that were taken in tasks.
        start, stop
            Only this time, seconds since `started`; samples across an end count in part.
        task
            Only samples of the task with this key, as Dask has it or as text.
        run
            Only samples of the attempt with this id.
        lines
            Tell frames of one function apart by the line that was running.

        Returns
        -------
        DataFrame
            One row a frame, callers before what they call: ``parent`` (row
            number, -1 at the bottom), ``depth``, ``function``, ``file``,
            ``line``, that of its lines that ran longest, with what it called;
            ``first_line`` of the function; ``self`` and ``total`` (seconds),
            ``share`` (of all).

        Raises
        ------
        TypeError, ValueError
            If a task name, worker, task or attempt is not in the recording, or `stop` is before `start`;
            if something is of another type.
        """
        begin, end = arguments.between(start, stop)
        read = steady(self.columns)
        key = None if task is None else arguments.known_key(read, task)
        attempt = None if run is None else arguments.known_run(read, run)
        names = None if prefix is None else arguments.known_prefixes(read, prefix)
        processes = None if worker is None else arguments.known_processes(read, worker)
        between = (self.started + begin, self.started + end)
        made: pd.DataFrame = above("analysis.flame", "flame")(
            read,
            between,
            prefix=names,
            process=processes,
            key=key,
            run=attempt,
            lines=arguments.flag("lines", lines),
        )
        return made

    @current
    def call_stacks(self, at: float | None = None) -> pd.DataFrame:
        """What each task is doing that runs, or was doing at a moment: its call stack.

        Parameters
        ----------
        at
            Seconds since `started`; by default now, or when the recording ended.

        Returns
        -------
        DataFrame
            A row for each attempt that ran then, the longest first: ``key``, ``prefix``, ``worker``,
            ``thread``; ``since``, when its function was called, and ``seen``, when it was last seen
            with this stack (seconds since `started`); ``stack``, the text of a traceback, innermost call
            last, with the lines of code that the recording has; ``run``, its id. One that was not
            sampled has the stack '', and NaN for ``seen``. Attempts in a local pool of processes are
            known once they have ended.

        Raises
        ------
        TypeError
            If `at` is no number.
        """
        moment = np.inf if at is None else arguments.number("at", at, "seconds since the recording began")
        made: pd.DataFrame = above("analysis.call_stacks", "call_stacks")(
            steady(self.columns), self.started, self.started + moment
        )
        return made

    @current
    def critical_path(self, by: str | None = None, *, cluster: str | None = None) -> pd.DataFrame:
        """What kept the run from ending sooner, step by step, from its beginning to its end.

        Found backwards from the attempt that ended last: where one waited, the
        path goes on with what it waited for last. The steps leave no gap, so
        that their seconds add up to the length of the run. It begins with the
        first submission and ends when the scheduler knew the last result.

        Several clusters in one recording have a path each, that of the cluster
        with most work first.

        Parameters
        ----------
        by
            Sums instead of steps: by ``'prefix'`` (task name), ``'kind'``, ``'because'``,
            ``'worker'``, ``'group'`` or ``'cluster'``, most seconds first.
        cluster
            The path of one cluster alone: its scheduler's address, or
            ``'local'``.

        Returns
        -------
        DataFrame
            A row for each stretch: ``start``, ``stop`` (seconds since
            `started`), ``seconds``; ``step``, its number: those of one attempt
            that follow one another are one; ``kind``, what they went into:
            *compute* the function, *disk*, *worker* the worker's own time around tasks, *transfer*
            waiting for inputs to arrive, *thread* waiting for a thread that no
            other task held, *scheduler* messages and the scheduler's own time,
            *client* nothing was asked for; ``because``, what waited for this
            step's task: *end* the end of the run, *input* a task that needed
            its result, *thread* a task that needed its thread, *submission*
            the client, *retry* a later attempt; and the attempt: ``prefix``,
            ``key``, ``group``, ``worker``, ``thread``, ``task``, ``run``; and its
            ``cluster``. With `by`, which the index has: ``seconds``, ``share`` (of all), ``steps`` and a
            column of seconds for each kind.

        Raises
        ------
        ValueError
            If it cannot be summed by that, or no task ran on that cluster.
        """
        made: pd.DataFrame = above("analysis.critical_path", "critical_path")(
            steady(self.columns), self.started, by, cluster
        )
        return made

    @current
    def bounds(self, *, cluster: str | None = None) -> Bounds:
        """How fast the run could have been at best, and how far above that it was; prints as text.

        Parameters
        ----------
        cluster
            Where there are several: the one that is asked about, by its
            scheduler's address or ``'local'``; by default that with most work.

        Returns
        -------
        Bounds
            ``work`` and ``spread`` (work / threads), ``longest`` (the longest
            chain of tasks that need one another, named in ``chain``; the
            longest task where it is not recorded which needs which),
            ``least`` and ``most`` (Brent's bounds), ``seconds``, ``above`` (the
            run over ``least``); ``frame()`` gives the chain as a DataFrame.

        Raises
        ------
        ValueError
            If there is no such cluster.
        """
        made: Bounds = above("analysis.bounds", "bounds")(steady(self.columns), cluster)
        return made

    @current
    def what_if(
        self,
        *,
        workers: int | None = None,
        threads: int | None = None,
        faster: Mapping[str, float] | None = None,
        transfers: bool = True,
        spilling: bool = True,
        chunks: float = 1,
        cluster: str | None = None,
    ) -> WhatIf:
        """How long the run would take otherwise: its graph replayed on a simulated cluster.

        The simulation keeps Dask's order of tasks, where it places them, its
        queue, work stealing, the scheduler's pace, transfers at the recorded
        bandwidth and the client's pauses; those in which nobody waited (between
        the cells of a notebook) are left out. It knows nothing of memory, nor of
        tasks that slow each other down when they share cores.

        Parameters
        ----------
        workers
            Number of workers, as large as those of the recorded cluster and there as late as they
            were. As recorded by default.
        threads
            Threads of each worker. As recorded by default.
        faster
            Names of tasks and how many times faster they are: ``{'load': 2}``
            halves them, 0.5 doubles them.
        transfers
            False: data are everywhere at once.
        spilling
            False: no task waits for a worker's disk.
        chunks
            How many times as large chunks are: 2, 3 … or 1/2, 1/3 …, where
            tasks are made from one chunk each.
        cluster
            Where there are several: the one that is asked about, by its
            scheduler's address or ``'local'``; by default that with most work.

        Returns
        -------
        WhatIf
            ``seconds`` beside ``recorded``; ``error``, how far the same
            simulation is off the recorded run, and ``low`` and ``high`` where
            that is more than 15 %; prints as text.

        Raises
        ------
        ValueError
            If no task ended, a name or the cluster is unknown, a number makes no sense, or
            the graph does not tell how it would look with other chunks.
        TypeError
            If something is no number, or neither true nor false.
        """
        made: WhatIf = above("analysis.what_if", "what_if")(
            steady(self.columns),
            self.about,
            workers=None if workers is None else arguments.whole("workers", workers),
            threads=None if threads is None else arguments.whole("threads", threads),
            faster=arguments.numbers("faster", faster, "{'load': 2}"),
            transfers=arguments.flag("transfers", transfers),
            spilling=arguments.flag("spilling", spilling),
            chunks=arguments.number("chunks", chunks, "how many times as large they are"),
            cluster=cluster,
        )
        return made

    @current
    def summary(self, *, findings: bool = True) -> Overview:
        """What ran, where, how long, how busy the threads were, and what was found; prints as text.

        Parameters
        ----------
        findings
            Whether to look for what cost time and tell it too, as `findings` does.
        """
        made: Overview = above("analysis.overview", "overview")(self._answers.look(), findings)
        return made

    @current
    def bottlenecks(self, by: str | Sequence[str] = "function") -> pd.DataFrame:
        """What took the time in task functions, most first.

        Parameters
        ----------
        by
            ``'function'``, ``'task'``, ``'group'``, ``'span'``, ``'worker'``,
            ``'thread'``, or several of these.

        Returns
        -------
        DataFrame
            What it is summed by, beside the id of a span its ``path``;
            ``duration`` [s] for which functions held a thread, and its
            ``share`` (0 to 1) of all; ``count`` of the attempts that ran or
            still run and how many of them ``failed``: raised, were tried again
            or were lost with their worker; ``mean``, ``median``, ``p95`` and
            ``max`` of an attempt that ended [s];
            ``size_in`` and ``size_out``, mean bytes of all inputs and of the
            result; ``throughput``, bytes of inputs a second; ``cpu`` [% of a
            core], from the CPU time of their threads; ``gpu`` [%] and
            ``gpu_memory`` [bytes] of their workers, mean over the time in which
            they ran (samples joined by lines); ``memory_added`` [bytes], mean
            change of the process's memory while one ran (``memory_change`` in
            `tasks` is in MiB). NaN where the recording does not tell.

        Raises
        ------
        ValueError
            If `by` is unknown.
        """
        made: pd.DataFrame = above("analysis.bottlenecks", "bottlenecks")(
            steady(self.columns), arguments.listed(by)
        )
        return made

    @current
    def findings(
        self,
        thresholds: Mapping[str, float] | None = None,
        *,
        start: float | None = None,
        stop: float | None = None,
    ) -> Findings:
        """What cost time or puts the run at risk, most important first, with what to do about it.

        Parameters
        ----------
        thresholds
            Values that replace defaults, as ``{'tiny-tasks.mean': 0.02}``;
            ``dask-insight findings --rules`` lists all with their meaning and source.
        start, stop
            Only this time, seconds since `started`.

        Returns
        -------
        Findings
            A list of `Finding`, each with ``code``, ``severity`` (info,
            warning, critical), ``title``, ``tasks`` (names), ``workers``,
            ``start`` and ``stop`` (seconds since `started`; those of the run
            where it is about all of it), ``cost_thread_seconds`` and
            ``cost_seconds`` (of wall time; 0 for a risk that costs none),
            ``evidence``, ``why``, ``advice`` and ``url``; prints as text. ``frame()`` gives a DataFrame,
            ``at_least(severity)`` a part, ``failed`` the rules that could not
            be worked out.

        Raises
        ------
        ValueError
            If there is no threshold of a name, the message lists those that are near; if `stop` is before
            `start`.
        TypeError
            If something is no number.
        """
        changed = arguments.numbers("thresholds", thresholds, "{'tiny-tasks.mean': 0.02}")
        begin, end = arguments.between(start, stop)
        part = self if begin == -np.inf and end == np.inf else self.slice(begin, end)
        zero = self.started
        found: Findings = above("analysis", "find")(
            part._answers.look(), zero, start=zero + begin, stop=zero + end, thresholds=changed
        )
        return found

    @current
    def balance(self, every: str | float | None = None) -> pd.DataFrame:
        """How evenly the workers were used over time.

        A result is held from when it was made, or had come from another worker,
        to when it was let go of; where that is not recorded, to when the last
        task that needs it has ended, and to the end if none does, but no longer
        than its worker was there. ``managed`` is what Dask counts itself, and is sampled.

        Parameters
        ----------
        every
            Length of a bin, seconds or as ``'1s'``; by default about a hundred bins.

        Returns
        -------
        DataFrame
            A row for each bin and worker: ``time`` (its start, seconds since
            `started`), ``worker``, ``running`` (tasks, mean over the bin),
            ``tasks`` (results held at its end) and their ``nbytes``,
            ``managed`` and ``process`` [bytes], the last samples of Dask's
            measure of results and of the process's memory.

        Raises
        ------
        ValueError
            If `every` is no length of time, or so short that millions of rows would be made.
        """
        width = None if every is None else arguments.seconds("every", every)
        made: pd.DataFrame = above("analysis.balance", "balance")(steady(self.columns), self.started, width)
        return made

    @current
    def moved(self, by: str = "pair") -> pd.DataFrame:
        """What was sent from worker to worker, and to clients, and how fast; most bytes first.

        Parameters
        ----------
        by
            ``'pair'`` of sender and receiver, ``'function'`` or ``'type'`` of the results.

        Returns
        -------
        DataFrame
            What it is summed by (``sender`` and ``receiver``, ``function`` or
            ``type``); ``nbytes``; ``transfers``, each counted once, though both
            sides tell of it, and the ``results`` that they carried; ``seconds``
            that they took, summed, of which the results of one transfer have a
            share by their size; ``bandwidth`` [bytes/s].

        Raises
        ------
        ValueError
            If `by` is unknown.
        """
        made: pd.DataFrame = above("analysis.moved", "moved")(steady(self.columns), by)
        return made

    @current
    def held(self, by: str | Sequence[str] = "function") -> pd.DataFrame:
        """Whose results took memory (or disk): those that took most for longest first.

        A result is held from when it was made to when it was let go of; where
        that is not recorded, to when the last task that needs it has ended, and
        to the end if none does. Copies on other workers count by ``'place'``
        alone. What was made before a part of a run is none of it.

        Parameters
        ----------
        by
            ``'function'``, ``'group'``, ``'worker'`` (which made them),
            ``'place'`` (the worker where they lie, copies too), ``'task'``
            (Dask's key; the 10,000 that took most for longest), or several of
            these.

        Returns
        -------
        DataFrame
            What it is summed by; number of ``results`` of a known size and
            their ``nbytes``; ``mean`` of the bytes held at a time, and how many
            of these were ``unused``: held after the last task that needs them
            had ended, because a client keeps them (NaN where the recording
            does not tell); ``peak``, the most at once, ``peaked``, when that
            was first (seconds since `started`), and ``left``, bytes held to the
            end.

        Raises
        ------
        ValueError
            If `by` is unknown.
        """
        made: pd.DataFrame = above("analysis.held", "held")(
            steady(self.columns), self.started, arguments.listed(by)
        )
        return made

    @current
    def dependencies(self, by: str = "function") -> pd.DataFrame:
        """Which tasks need the results of which: the shape of a computation.

        Parameters
        ----------
        by
            ``'function'`` or ``'group'``.

        Returns
        -------
        DataFrame
            A row for each pair: ``source``, whose results are needed, and
            ``target``, who needs them; number of ``edges``, and of tasks at
            both ends, ``sources`` and ``targets``; ``nbytes`` of the results,
            counted for every task that needs them; ``seconds`` for which the
            functions of the targets held a thread, most first.

        Raises
        ------
        ValueError
            If `by` is unknown.
        """
        made: pd.DataFrame = above("analysis.dependencies", "dependencies")(steady(self.columns), by)
        return made

    @current
    def shape(self, by: str = "function") -> Shape:
        """The same as a picture: a flowchart of task names in notebooks, text where it is printed.

        JupyterLab from 4.1, VS Code and GitHub draw it. ``export("graph.mmd")`` writes it to a file.

        Parameters
        ----------
        by
            ``'function'`` or ``'group'``.

        Returns
        -------
        Shape
            ``nodes``: the 60 names whose functions held threads for longest, and what the others sum up
            to, with how many of their tasks are done, their seconds and the bytes of their results;
            ``arrows``: which needs which, dearest first, at most 300; ``mermaid()``, the flowchart's code.

        Raises
        ------
        ValueError
            If `by` is unknown.
        """
        read = steady(self.columns)
        pairs = above("analysis.dependencies", "dependencies")(read, by)
        made: Shape = above("analysis.shape", "shape")(read, pairs, by)
        return made

    @current
    def time_budget(
        self,
        by: str | Sequence[str] | None = None,
        *,
        start: float | None = None,
        stop: float | None = None,
        every: str | float | None = None,
    ) -> pd.DataFrame:
        """Where the time of all worker threads went, without remainder.

        Thread-seconds that the workers offered are the lives of all their
        threads within the range: from when a worker joined to when it left.
        Each moment of each thread belongs to one part. Task functions are
        split by the CPU time of their thread and by what fine performance
        metrics tell of their task name on their worker. An idle thread is
        waiting for the task that runs next on it (or for the end): the cause
        is that task's own once it was ready; before, it is what its last input
        was doing at that moment, and so on back. Tasks that were ready with no
        worker yet (*scheduler*), or on another worker without a thread
        (*placement*), take precedence over inputs; no task in the cluster
        (*client*) and a paused worker (*paused*) over both.

        Parameters
        ----------
        by
            ``'function'`` (the task name that ran, or was waited for),
            ``'worker'``, ``'cluster'`` (its scheduler's address; ``'local'`` for
            local schedulers), ``'span'``, ``'cell'`` (execution count of the notebook
            cell), ``'line'`` (client's file and line), ``'submission'``,
            ``'time'``, or several of these.
        start, stop
            Only this time, seconds since `started`; by default from when the
            first task was wanted to when the last was done.
        every
            Length of a bin of ``'time'``, seconds or as ``'1s'``; by default about a hundred bins.

        Returns
        -------
        DataFrame
            A row for each combination that there is: what it is summed by
            (``time`` is the bin's start, seconds since `started`; ``path`` is
            the whole name of the span beside its id); ``kind``
            (computing, overhead, idle); ``part``, see the table ``budget`` and
            `dask_insight.analysis.time_budget.PARTS`; ``seconds`` (thread-seconds)
            and ``share`` (of all, 0 to 1). Its ``attrs`` have ``thread_seconds``
            (the whole), ``threads`` (the mean), ``start`` and ``stop``, ``served`` and
            ``still`` (seconds with a worker there, and of standstills).

        Raises
        ------
        ValueError
            If `by` is unknown, `every` no length of time, given without ``'time'`` or so short that
            millions of pieces would be made, or `stop` before `start`.
        TypeError
            If a time is no number.

        Notes
        -----
        After the top-down method of Yasin (ISPASS 2014), with Dask's own
        states in place of the pipeline's. Times are the scheduler's clock.
        """
        begin, end = arguments.between(start, stop)
        width = None if every is None else arguments.seconds("every", every)
        names = None if by is None else arguments.listed(by)
        made: pd.DataFrame = above("analysis.time_budget", "time_budget")(
            steady(self.columns), self.started, start=begin, stop=end, by=names, every=width
        )
        return made


for _question in vars(Questions).values():
    if hasattr(_question, "__wrapped__"):
        # Who asks wrongly is told of the class that people know; and it is pickled by its name.
        for _function in (_question, _question.__wrapped__):
            _function.__module__ = f"{__package__}.recording"
            _function.__qualname__ = f"Recording.{_function.__name__}"


def above(module: str, name: str) -> Any:
    """A function that stands above recordings, found by name when it is asked for."""
    return getattr(import_module(f"{__package__}.{module}"), name)
