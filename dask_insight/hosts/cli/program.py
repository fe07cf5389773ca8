"""Runs a Python program in this process as ``python`` itself would."""

from __future__ import annotations

import builtins
import importlib.machinery
import importlib.util
import io
import os
import sys
import threading
import zipimport
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

from ...errors import CommandError, ExitCode
from .threads import wait_for_threads

#: By this name processes that ``multiprocessing`` spawns know the main module, here set by its import.
_SPAWNED = "__mp_main__"


class Program:
    """A script or module that is ready to run as ``__main__``."""

    def __init__(self, name: str, code: CodeType, main: ModuleType, argv: list[str], folder: str) -> None:
        #: What to call it.
        self.name = name
        self._code = code
        self._main = main
        self._argv = argv
        self._folder = folder

    def run(self) -> None:
        """Run it until its threads have ended too; whatever it raises passes on.

        It stays ``sys.modules["__main__"]``, with its file or spec, so that
        processes it starts with ``multiprocessing`` find their way back to it,
        and what they send, too.
        """
        sys.argv[:] = self._argv
        if not sys.flags.safe_path:
            # Where Python found the command: beside it, or here.
            sys.path[:1] = [self._folder]
        sys.modules["__main__"] = self._main
        if _SPAWNED in sys.modules:
            sys.modules[_SPAWNED] = self._main
        others = threading.enumerate()
        try:
            exec(self._code, self._main.__dict__)
        except SystemExit:
            wait_for_threads(others)
            raise
        wait_for_threads(others)

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
    if file.is_dir():
        file = file / "__main__.py"
    if not file.is_file():
        raise CommandError(
            f"there is no file {file}; for a module, use `dask-insight run -m {path}`", ExitCode.USAGE
        )
    if file.suffix == ".ipynb":
        raise CommandError(
            f"{file} is a notebook: make a script of it with `jupyter nbconvert --to script {file}`",
            ExitCode.USAGE,
        )
    whole = str(file.absolute())
    with suppress(zipimport.ZipImportError):
        return _load_archive(file, zipimport.zipimporter(whole), [path, *arguments])
    try:
        with io.open_code(whole) as stream:
            source = stream.read()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}", ExitCode.UNREADABLE) from None
    code = _compiled(lambda: compile(source, whole, "exec", dont_inherit=True))
    # Python follows the links of a script, and those of a folder not.
    folder = os.path.dirname(whole if os.path.isdir(path) else os.path.realpath(whole))
    return Program(_name(file), code, _main(whole), [path, *arguments], folder)


def _load_archive(file: Path, archive: zipimport.zipimporter, argv: list[str]) -> Program:
    spec = archive.find_spec("__main__")
    if spec is None:
        raise CommandError(f"there is no __main__.py in the archive {file}", ExitCode.USAGE)
    return Program(
        _name(file), _compiled(lambda: archive.get_code("__main__")), _main_of(spec), argv, archive.archive
    )


def load_module(name: str, arguments: list[str]) -> Program:
    """A program from a module that can be imported, or from a package's ``__main__``.

    Raises
    ------
    CommandError
        If there is none.
    """
    here = [] if sys.flags.safe_path else [os.getcwd()]
    sys.path[:0] = here
    try:
        spec = _spec(name)
    finally:
        del sys.path[: len(here)]
    if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        raise CommandError(f"there is no module {name} with Python code to run", ExitCode.USAGE)
    loader, found = spec.loader, spec.name
    code = _compiled(lambda: loader.get_code(found))
    return Program(
        name.rpartition(".")[2], code, _main_of(spec), [spec.origin or "", *arguments], os.getcwd()
    )


def _name(file: Path) -> str:
    return file.stem if file.stem != "__main__" else file.absolute().parent.name


def _spec(name: str) -> importlib.machinery.ModuleSpec | None:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            return importlib.util.find_spec(f"{name}.__main__")
        return spec
    except ModuleNotFoundError:
        return None
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


def _main_of(spec: importlib.machinery.ModuleSpec) -> ModuleType:
    main = _main(spec.origin or "")
    main.__spec__ = spec
    main.__package__ = spec.parent
    main.__loader__ = spec.loader
    return main


def _main(file: str) -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__.update(__file__=file, __builtins__=builtins, __spec__=None, __package__=None)
    return main
