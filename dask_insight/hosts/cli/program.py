"""Runs a Python program in this process as ``python`` itself would."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import pkgutil
import re
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from ...errors import CommandError, ExitCode
from .files import quoted
from .signals import Terminated
from .threads import at_work, wait_for_threads

#: By this name processes that ``multiprocessing`` spawns know the main module, here set by its import.
_SPAWNED = "__mp_main__"
#: What people write before a script out of habit.
_PYTHON = re.compile(r"pythonw?[\d.]*t?(\.exe)?", re.IGNORECASE)
#: How the file of a Python program begins that is a command; a shell finds an interpreter whose path is long.
_SCRIPT = re.compile(rb"#!.*(\n'''exec' .*)?python")
_HEAD = 512


class Program:
    """A script or module that is ready to run as ``__main__``.

    Parameters
    ----------
    name
        What to call it.
    code, main
        What runs, and the module that it runs as.
    argv
        Its ``sys.argv``.
    path
        What its ``sys.path`` begins with in place of what ours begins with; None where that is done.
    """

    def __init__(
        self, name: str, code: CodeType, main: ModuleType, argv: list[str], path: list[str] | None
    ) -> None:
        self.name = name
        self._code = code
        self._main = main
        self._argv = argv
        self._path = path
        #: Names of threads that may work on when it has run, and why they are not waited for.
        self.left: list[str] = []
        self.why_left = "this Python does not show what threads run"

    def run(self) -> None:
        """Run it until its threads have ended too; whatever it raises passes on.

        It stays ``sys.modules["__main__"]``, with its file or spec, so that
        processes it starts with ``multiprocessing`` find their way back to it,
        and what they send, too.
        """
        sys.argv[:] = self._argv
        if self._path is not None:
            sys.path[: _given()] = self._path
        sys.modules["__main__"] = self._main
        if _SPAWNED in sys.modules:
            sys.modules[_SPAWNED] = self._main
        others = threading.enumerate()
        try:
            exec(self._code, self._main.__dict__)
        except Terminated:
            raise
        except SystemExit:
            self.left = wait_for_threads(others)
            raise
        except BaseException:
            # Its traceback is not to wait.
            self.left, self.why_left = at_work(others), "the program had failed"
            raise
        self.left = wait_for_threads(others)

    def hide_our_frames(self) -> None:
        """Have tracebacks that nobody catches begin in the program, as without us."""
        show = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, entry: TracebackType | None) -> None:
            first = entry
            while first is not None and first.tb_frame.f_globals is not self._main.__dict__:
                first = first.tb_next
            show(kind, error.with_traceback(first or entry), first or entry)

        sys.excepthook = hook


def load_script(path: str, arguments: list[str]) -> Program:
    """A program from a file, or from a folder or a zip archive with a ``__main__.py``.

    Raises
    ------
    CommandError
        If there is none.
    """
    file = Path(path)
    if (importer := pkgutil.get_importer(str(file.absolute()))) is not None:
        return _load_within(file, importer, [path, *arguments])
    if _PYTHON.fullmatch(file.name):
        known = arguments and (arguments[0] == "-m" or not arguments[0].startswith("-"))
        alone = " ".join(map(quoted, arguments)) if known else "SCRIPT"
        raise CommandError(f"name the script alone: `dask-insight run {alone}`", ExitCode.USAGE)
    if not file.is_file():
        cure = f"for a module, use `dask-insight run -m {quoted(path)}`"
        if (command := shutil.which(path)) and _is_python(command):
            cure = f"{path} is a command: `dask-insight run {quoted(command)}`"
        raise CommandError(f"there is no file {file}; {cure}", ExitCode.USAGE)
    if file.suffix == ".ipynb":
        raise CommandError(
            f"{file} is a notebook: make a script of it with `jupyter nbconvert --to script {file}`",
            ExitCode.USAGE,
        )
    whole = str(file.absolute())
    try:
        with io.open_code(whole) as stream:
            source = stream.read()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}", ExitCode.UNREADABLE) from None
    code = _compiled(lambda: compile(source, whole, "exec", dont_inherit=True))
    # Python follows the links of a script.
    folder = [] if sys.flags.safe_path else [os.path.dirname(os.path.realpath(whole))]
    return Program(_name(file), code, _main(whole), [path, *arguments], folder)


def _is_python(command: str) -> bool:
    """Whether a command is a program in Python: a script, or what pip makes of one for Windows."""
    try:
        with open(command, "rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return _SCRIPT.match(head) is not None or zipfile.is_zipfile(command)


def _load_within(place: Path, importer: Any, argv: list[str]) -> Program:
    """What a folder or an archive holds."""
    spec = importer.find_spec("__main__")
    if spec is None:
        kind = "folder" if place.is_dir() else "archive"
        raise CommandError(f"there is no __main__.py in the {kind} {place}", ExitCode.USAGE)
    code = _compiled(lambda: spec.loader.get_code("__main__"))
    # Such a path is not left out where paths are to be safe.
    return Program(_name(place), code, _main_of(spec), argv, [str(place.absolute())])


def load_module(name: str, arguments: list[str]) -> Program:
    """A program from a module that can be imported, or from a package's ``__main__``.

    Raises
    ------
    CommandError
        If there is none.
    """
    before = list(sys.path)
    # Packages that are imported to find it may put more in front.
    sys.path[: _given()] = [] if sys.flags.safe_path else [os.getcwd()]
    try:
        spec = _spec(name)
        loader: Any = None if spec is None else spec.loader
        if spec is None or not hasattr(loader, "get_code"):
            raise CommandError(f"there is no module {name} with Python code to run", ExitCode.USAGE)
        found = spec.name
        code = _compiled(lambda: loader.get_code(found))
    except CommandError:
        sys.path[:] = before
        raise
    return Program(name.rpartition(".")[2], code, _main_of(spec), [spec.origin or "", *arguments], None)


def _given() -> int:
    """How many entries of ``sys.path`` say where Python found the command: beside it, or here."""
    return 0 if sys.flags.safe_path else 1


def _name(place: Path) -> str:
    whole = place.absolute()
    whole = whole.parent if whole.stem == "__main__" else whole
    return whole.name if whole.is_dir() else whole.stem


def _spec(name: str) -> ModuleSpec | None:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            return importlib.util.find_spec(f"{name}.__main__")
        return spec
    except ModuleNotFoundError as error:
        if f"{name}.__main__.".startswith(f"{error.name}."):
            return None
        raise CommandError(f"{name} cannot be imported: {error}", ExitCode.FAILED) from None
    except (ImportError, ValueError) as error:
        raise CommandError(f"{name} is no name of a module: {error}", ExitCode.USAGE) from None


def _compiled(compiling: Callable[[], CodeType | None]) -> CodeType:
    try:
        code = compiling()
    except SyntaxError as error:
        place = f" ({error.filename}, line {error.lineno})" if error.filename else ""
        raise CommandError(f"{error.msg}{place}: the program does not compile", ExitCode.FAILED) from None
    except ValueError as error:
        # Before 3.11.4, Python says so of null bytes.
        raise CommandError(f"{error}: the program does not compile", ExitCode.FAILED) from None
    if code is None:
        raise CommandError("the program has no code", ExitCode.USAGE)
    return code


def _main_of(spec: ModuleSpec) -> ModuleType:
    main = _main(spec.origin or "")
    main.__spec__ = spec
    main.__package__ = spec.parent
    main.__loader__ = spec.loader
    return main


def _main(file: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=builtins, __spec__=None, __package__=None)
    return main
