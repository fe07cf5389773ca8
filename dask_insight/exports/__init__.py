"""A recording in the formats of other tools: one file each, listed here."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..figures.panels import OPTIONS
from .progress import Told, silent

if TYPE_CHECKING:
    from ..recording import Recording

__all__ = ["ALL", "FORMATS", "Format", "export", "format_of"]


class Format(NamedTuple):
    """A format that can be written: ``write(recording, path, told, **options)`` of the module of its name."""

    name: str
    #: What opens it, in words.
    opens: str
    #: End of its files' names; '' if it is a folder.
    suffix: str
    #: Names of its own options.
    options: tuple[str, ...] = ()


#: What pictures take; their `panel` may be `ALL`: each panel that has something to show, in a folder.
_PICTURES = ("panel", "start", "stop", "prefix", "worker", "width", "height", "scheme", *OPTIONS)
ALL = "all"

#: Every format that can be written.
FORMATS: dict[str, Format] = {
    each.name: each
    for each in (
        Format("chrome", "Chrome Trace Event JSON: Perfetto, chrome://tracing", ".trace.json"),
        Format("speedscope", "speedscope's JSON: the sampled stacks of each process", ".speedscope.json"),
        Format("collapsed", "collapsed stacks: flamegraph.pl, inferno, speedscope", ".collapsed.txt"),
        Format("pprof", "pprof's gzipped protobuf: go tool pprof, Grafana Pyroscope", ".pb.gz"),
        Format("otlp", "OpenTelemetry spans as OTLP JSON", ".otlp.json"),
        Format("mermaid", "a flowchart of the task names: Mermaid, JupyterLab, GitHub", ".mmd"),
        Format("json", "every table as JSON, one object a table", ".json"),
        Format("csv", "a folder with every table as CSV", ""),
        Format("parquet", "a folder with every table as Parquet (needs pyarrow)", ""),
        Format("svg", "panels as pictures: browsers, documents", ".svg", _PICTURES),
        Format("png", "panels as pictures of pixels (needs matplotlib)", ".png", (*_PICTURES, "scale")),
    )
}


#: What to do instead where a name ends so.
_CURES = {
    **{
        name: f"{name} is a folder of all tables, as export('tables', '{name}'); "
        f"one alone is run.tasks.to_{name}('tasks.{name}')"
        for name in ("csv", "parquet")
    },
    "html": "a page is a report, as run.report('run.html')",
    "dinsight": "a recording is saved, as run.save('run.dinsight')",
}


def suffix_of(path: str | os.PathLike[str]) -> str:
    """How a file's name ends, without its dot and that of a compressed one."""
    return Path(os.fspath(path).lower().removesuffix(".gz")).suffix.removeprefix(".")


def format_of(path: str | os.PathLike[str]) -> str | None:
    """The format that a file's name says, if it says one: the longest suffix that fits."""
    name = os.fspath(path).lower()
    names = (name, name.removesuffix(".gz"))
    fitting = [
        each for each in FORMATS.values() if each.suffix and any(one.endswith(each.suffix) for one in names)
    ]
    return max(fitting, key=lambda each: len(each.suffix)).name if fitting else None


def export(
    recording: Recording,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    force: bool = False,
    told: Told = silent,
    **options: Any,
) -> Path:
    """Write a recording for another tool.

    Parameters
    ----------
    recording
        What to write.
    path
        The file, or for ``csv``, ``parquet`` and pictures of all panels the
        folder. A name that ends in ``.gz`` is compressed. It appears whole or not at all.
    format
        A name of `FORMATS`; by default what the file's name says.
    force
        Replace what is there.
    told
        Is told the share that is written, 0 to 1, again and again.
    **options
        Of that format; see `Format.options`.

    Returns
    -------
    Path
        What was written.

    Raises
    ------
    ValueError
        If the format is unknown, or the name says none.
    TypeError
        If the format does not have such an option.
    FileExistsError
        If something is there already, or a folder holds what would be lost.
    FileNotFoundError
        If there is no folder to write it into.
    ImportError
        If the format needs a library that is not installed; the message names it.
    """
    name = format or format_of(path)
    if not isinstance(name, str) or name not in FORMATS:
        given = f"{name!r} is" if name else f"the name {os.fspath(path)!r} says"
        cure = _CURES.get(str(name or suffix_of(path))) or f"choose one of {', '.join(FORMATS)}"
        raise ValueError(f"{given} no format: {cure}")
    _check(name, options)
    target = Path(path)
    _free(target, "" if options.get("panel") == ALL else FORMATS[name].suffix, force)
    import_module(f"{__name__}.{name}").write(recording, target, told, **options)
    told(1.0)
    return target


def _check(name: str, options: dict[str, Any]) -> None:
    known = FORMATS[name].options
    if unknown := [each for each in options if each not in known]:
        raise TypeError(
            f"{name} has no option {unknown[0]!r}; "
            + (f"it has {', '.join(known)}" if known else "it has none")
        )


def _free(target: Path, suffix: str, force: bool) -> None:
    """Say what hinders writing before anything is worked out."""
    folder = target.absolute().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}: make it first")
    if suffix and target.is_dir():
        raise FileExistsError(f"{target} is a folder: name a file in it, as {target / ('run' + suffix)}")
    if target.exists() and not force:
        raise FileExistsError(f"{target} is there already: choose another name, or force=True")
