"""Reading and writing files so that nobody loses one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import glob
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING, Any

from ... import frames, words
from ...errors import CommandError, ExitCode
from ...legible import harmless
from ..untaken import untaken
from .progress import saying

if TYPE_CHECKING:
    from ...recording import Recording
    from ...session import Session

SUFFIX = ".dinsight"
#: One of these stands near the beginning of every report, and of what is written for pull requests.
_MARKS = (b'content="dask_insight"', b"<!-- dask-insight")
_HEAD = 64 * 1024
#: Shells of Windows leave it to the commands which files a name with wildcards stands for.
_WILD = sys.platform == "win32"
#: Losses of a recording that are told one by one.
_LOSSES = 3


def new_path(stem: str) -> Path:
    """A new file for a recording, run.dinsight, run-2.dinsight …, there from now on: nobody else takes it.

    Raises
    ------
    CommandError
        If it cannot be written.
    """
    try:
        return untaken(stem, SUFFIX)
    except OSError as error:
        told = f"{error.filename} cannot be written ({error.strerror}): choose another place with -o"
        raise CommandError(told, ExitCode.UNWRITABLE) from None


@contextmanager
def recording_file(given: str | None, stem: str, force: bool, *, grows: bool = False) -> Iterator[Path]:
    """Where a recording is written: as `given`, or a new file, which does not stay if nothing came into it.

    Raises
    ------
    CommandError
        See `writable` and `new_path`.
    """
    path = writable(given, force, grows=grows) if given else new_path(stem)
    try:
        yield path
    finally:
        with suppress(OSError):
            if not given and not path.stat().st_size:
                path.unlink()


def place(path: str | os.PathLike[str]) -> Path:
    """Where something is to be written, with the folder that ``~`` stands for.

    Raises
    ------
    CommandError
        If that is to be the standard output.
    """
    if os.fspath(path) == "-":
        raise CommandError("it cannot be written to the standard output: name a file", ExitCode.USAGE)
    return Path(os.path.expanduser(path))


def unnamed_file(options: object) -> str:
    """What is wrong where the option of a file is empty, as a variable that is not set makes it; else ''."""
    for name in ("output", "html"):
        if getattr(options, name, None) == "":
            return f"--{name} is empty: name a file, or leave it out"
    return ""


def writable(
    path: str | os.PathLike[str], force: bool = False, *, text: bool = False, grows: bool = False
) -> Path:
    """A path that may be written: free, or taken by a file of ours of the same kind.

    Parameters
    ----------
    path
        Where to write.
    force
        Any file may be replaced.
    text
        What is to be written is a page or a summary, and no recording.
    grows
        It is written in the file that is there, and not beside it to take its place.

    Raises
    ------
    CommandError
        If another kind of file would be lost, or the folder is not there.
    """
    target = place(path)
    try:
        target.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # Free, or what follows says why not.
        pass
    except OSError as error:
        # A folder that one may not enter, a name that is too long: Python 3.14 finds nothing there.
        raise CommandError(f"{target} cannot be written: {error.strerror}", ExitCode.UNWRITABLE) from None
    if target.is_dir():
        raise CommandError(f"{target} is a folder: name a file in it", ExitCode.UNWRITABLE)
    if target.exists() and not target.is_file():
        raise CommandError(f"{target} is a device or a pipe: name a file", ExitCode.UNWRITABLE)
    folder = target.absolute().parent
    if not folder.is_dir():
        raise CommandError(
            f"there is no folder {folder}: make it first, or name another", ExitCode.UNWRITABLE
        )
    goes_to = frames.place_of(target)
    taken = [goes_to] if target.exists() else []
    folders = [] if grows and taken else [goes_to.parent]
    if not all(os.access(each, os.W_OK) for each in (*taken, *folders)):
        raise CommandError(f"{target} cannot be written: choose another place", ExitCode.UNWRITABLE)
    if target.exists() and not force and (what := _precious(target, text)):
        raise CommandError(
            f"{target} is there and {what}: choose another name, or use --force", ExitCode.UNWRITABLE
        )
    return target


def _precious(path: Path, text: bool) -> str:
    """Why a file is not to be replaced; '' if it is of the kind that takes its place."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        return f"cannot be looked into ({error.strerror})"
    recording, ours = head.startswith(frames.MAGIC), any(mark in head for mark in _MARKS)
    if not head or (ours if text else recording):
        return ""
    return "is a recording" if recording else "is no recording" if ours else "dask-insight did not make it"


def apart(*written: Path | None, read: Iterable[str | os.PathLike[str]] = ()) -> None:
    """See to it that nothing is written over what is read or written as well.

    Raises
    ------
    CommandError
        If two of the paths are one file.
    """
    sources = {_which(os.path.expanduser(path)) for path in read}
    taken: set[tuple[object, ...]] = set()
    for path in filter(None, written):
        which = _which(path)
        if which in sources:
            raise CommandError(f"{path} is what is to be read: write to another file", ExitCode.USAGE)
        if which in taken:
            raise CommandError(f"{path} cannot hold two things: name another file for one", ExitCode.USAGE)
        taken.add(which)


def _which(path: str | os.PathLike[str]) -> tuple[object, ...]:
    """Which file it is, whatever it is called: some systems do not tell capitals from small letters."""
    try:
        found = os.stat(path)
    except OSError:
        return (os.path.normcase(os.path.realpath(path)),)
    return (found.st_dev, found.st_ino)


def expanded(paths: Iterable[str]) -> list[str]:
    """Paths, those with wildcards as the files that they stand for, where no shell has seen to that."""
    return [each for path in paths for each in (_matching(path) if _WILD else [path])]


def _matching(path: str) -> list[str]:
    return [path] if Path(path).exists() else sorted(glob(path)) or [path]


def open_file(path: str, *, quiet: bool = False) -> Recording:
    """Open a recording for a command, and say what it lacks, unless the command is to do so.

    Raises
    ------
    CommandError
        If it is not there or cannot be read.
    """
    from ...recording import open_recording

    with saying(f"Reading {Path(path).name}"), reading():
        recording = open_recording(path)
    if not quiet:
        _tell_losses(recording, Path(path))
    return recording


def open_run(path: str) -> Recording:
    """Open a recording of a run, which a comparison of some is not; see `open_file`.

    Raises
    ------
    CommandError
        If it is not there, cannot be read, or is a comparison.
    """
    recording = open_file(path)
    if "comparison" in recording.about:
        shown = f"dask-insight info {quoted(Path(path))}"
        raise CommandError(f"{path} is a comparison: `{shown}` tells what it found", ExitCode.UNREADABLE)
    return recording


def _tell_losses(recording: Recording, path: Path) -> None:
    from ...tables.losses import losses

    lost = losses(recording.columns("events"), on_purpose=False)
    found = [words.short(" ".join(loss.split()), 400) for loss in lost]
    told = [f"{path} is not whole: {loss}" for loss in found[:_LOSSES]]
    if left := len(found) - len(told):
        more = words.count(left, "more loss", "more losses")
        told.append(f"{path} has {more}, which `dask-insight info {quoted(path)}` tells")
    for line in told:
        print(f"dask-insight: {harmless(line)}", file=sys.stderr)


@contextmanager
def reading() -> Iterator[None]:
    """Where recordings are opened, what hinders that is said in one line.

    Raises
    ------
    CommandError
        If one is not there or cannot be read.
    """
    from ...recording import RecordingError

    try:
        yield
    except FileNotFoundError as error:
        raise CommandError(f"there is no file {error.filename}", ExitCode.UNREADABLE) from None
    except (RecordingError, OSError) as error:
        raise CommandError(str(error), ExitCode.UNREADABLE) from None


def write_report(recording: Recording, path: Path, *, quiet: bool = False) -> Path:
    """Write the HTML report of a recording for a command, which says so unless it is `quiet`.

    Raises
    ------
    CommandError
        If it cannot be written.
    """
    try:
        with saying(f"Writing {path.name}", quiet=quiet):
            recording.report(path)
    except (OSError, RuntimeError) as error:
        raise CommandError(f"the report could not be written: {error}", ExitCode.UNWRITABLE) from error
    return path


def trouble_with_report(recording: Recording, path: Path, *, quiet: bool = False) -> CommandError | None:
    """Write it like `write_report`, or give why that cannot be: the recording is there all the same."""
    try:
        write_report(recording, path, quiet=quiet)
    except CommandError as error:
        return error
    return None


def holds_anything(path: Path) -> bool:
    """Whether a file is there and not empty."""
    return path.exists() and path.stat().st_size > 0


def reserve(path: Path) -> ExitStack:
    """Begin the file of a recording that is to come; what is there stays until then.

    No other process records to it until what this gives is closed.

    Raises
    ------
    CommandError
        If it cannot be written, or another process records to it.
    """
    new = not path.exists()
    try:
        with ExitStack() as claim:
            claim.callback(frames.claim(path))
            try:
                if holds_anything(path):
                    path.open("ab").close()
                else:
                    frames.create(path).close()
            except OSError:
                if new:
                    path.unlink(missing_ok=True)
                raise
            return claim.pop_all()
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error}", ExitCode.UNWRITABLE) from None


def begun(session: Session, path: Path) -> Recording:
    """Begin to record to a file.

    Raises
    ------
    CommandError
        If it cannot be written, or the cluster not be recorded.
    """
    try:
        return session.start()
    except (OSError, RuntimeError) as error:
        if not isinstance(error, OSError) or error.errno is None:
            # It is the cluster's.
            told = " ".join(str(error).split()) or type(error).__name__
            raise CommandError(told, ExitCode.UNREACHABLE) from None
        raise CommandError(f"{path} cannot be written: {error}", ExitCode.UNWRITABLE) from None


@contextmanager
def recorded(session: Session, path: Path) -> Iterator[Recording]:
    """Record to a file within, or say why that cannot be; see `begun`."""
    recording = begun(session, path)
    try:
        yield recording
    finally:
        session.stop()


@contextmanager
def lacking() -> Iterator[list[str]]:
    """Gathers what becomes of the files of recordings that end within and are not complete.

    These are words that follow the file's name; warnings with our code would say the same.
    """
    from ...session import IncompleteFile

    lacks: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", IncompleteFile)
        show = warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if isinstance(message, IncompleteFile):
                lacks.append(message.lack)
            else:
                show(message, category, *place, **more)

        warnings.showwarning = shown
        try:
            yield lacks
        finally:
            # Python 3.14 can leave that to us.
            warnings.showwarning = show


def rescued(recording: Recording, output: Path, lack: str) -> str:
    """What the file of a recording lacks, how much it holds, and where all is saved instead, in words.

    Parameters
    ----------
    recording
        What was recorded, whole.
    output
        Its file.
    lack
        What became of that.
    """
    place = _saved_elsewhere(recording, output)
    cure = "no temporary folder takes it: name a file on a disk with room"
    told = (lack, _held(recording, output), f"{place} has all of it" if place else cure)
    return "; ".join(filter(None, told))


def _held(recording: Recording, output: Path) -> str:
    from ...recording import open_recording

    try:
        tasks = recording.summary().tasks
        held = open_recording(output).summary().tasks
    except Exception:
        # It has gone, cannot be read, or there is no memory for it.
        return ""
    return f"it holds {held:,} of the {words.count(tasks, 'task')}" if tasks else ""


def _saved_elsewhere(recording: Recording, output: Path) -> Path | None:
    """Where it is saved by its name, in a new folder, closed to others; None if nothing has room for it.

    The folder of its file has none.
    """
    full = os.path.realpath(output.parent)
    for spare in recording.spare_folders():
        # An interrupt, too, leaves nothing behind.
        with suppress(OSError, MemoryError), ExitStack() as undo:
            if os.path.realpath(spare or gettempdir()) == full:
                continue
            folder = mkdtemp(prefix="dask-insight-", dir=spare)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            recording.save(Path(folder, output.name))
            undo.pop_all()
            return Path(folder, output.name)
    return None


def quoted(argument: Path | str) -> str:
    """A path or a text as an argument of a command that is to be typed."""
    given = str(argument)
    return subprocess.list2cmdline([given]) if sys.platform == "win32" else shlex.quote(given)


def all_findings(recording: Path | str) -> str:
    """The command that tells all findings of a recording."""
    return f"dask-insight findings {quoted(recording)}"


def to_look_at(recording: Path | str) -> str:
    """The command that shows a recording."""
    return f"dask-insight report {quoted(recording)} --open"


def size_of(path: Path) -> str:
    """Size of a file in words."""
    return words.size(path.stat().st_size)
