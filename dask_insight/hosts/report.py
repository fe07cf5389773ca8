"""One HTML file that shows a recording anywhere: no network, no server, no installation."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgpack

from dask_insight import ascii91, words
from dask_insight.batch import decode, has_missing, table_of
from dask_insight.frames import holds_recording, place_of, replacing
from dask_insight.schema import TABLES
from dask_insight.threads import at_once
from dask_insight.words import short

from .ahead import ahead, extent
from .going_on import reloading, so_far
from .head import head_of

if TYPE_CHECKING:
    from dask_insight.recording import Recording

#: Tables that the first picture needs; the page shows it before it has read the others.
FIRST = frozenset(
    (
        "about",
        "workers",
        "spans",
        "submissions",
        "graph",
        "attempts",
        "running",
        "phases",
        "findings",
        "critical",
        *(table for table in TABLES if table.startswith("compared_")),
    )
)

#: Tables that what stands around the first picture needs: they come next, in blocks of their own.
SOON = frozenset(("budget",))

#: Columns of the largest tables that the first picture needs; the others come later, of the same rows.
FIRST_COLUMNS = {
    "graph": frozenset(("task", "prefix")),
    "attempts": frozenset(("run", "task", "worker", "thread", "status", "stop", "start")),
}
#: Columns by which an attempt is placed whose thread or times are not known.
_PLACING = frozenset(("done", "assigned"))

#: Raw bytes of batches in one script block: small enough to inflate and decode while the page stays alive.
BLOCK = 4 * 2**20
#: A block may unpack to this many times its size and this much more: what unpacks to more the page takes for
#: damage, in `core/load.ts`.
_EXPANSION, _ALLOWANCE = 100, 2**24

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="dask_insight">
<title>{title}</title>
<style>{style}</style>
{reload}</head>
<body class="di-page">
<header class="summary">
<div class="top"><h1 dir="auto">{title}</h1><div id="tools"></div></div>
<p class="verdict">{verdict}</p>
<dl class="facts">{facts}</dl>
{notices}</header>
<main id="page"></main>
<noscript>
<p class="notice">The charts need JavaScript, which is switched off. In JupyterLab press <em>Trust HTML</em>
above. This is the recording in figures.</p>
{tables}</noscript>
{blocks}<script type="application/json" id="report">{settings}</script>
<script>{script}</script>
{blocks}</body>
</html>
"""


class MissingFrontEnd(RuntimeError):
    """The page's script and style sheet have not been built."""


def write_report(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    renewed: float | None = None,
) -> Path:
    """Write a recording as one self-contained HTML file.

    Parameters
    ----------
    recording
        What to show.
    path
        The file to write; one that exists is replaced, unless it is a recording.
    title
        Heading of the page; by default the recording's name.
    renewed
        Seconds after which a newer page takes its place: it says so, and loads itself again that often.
        None for the last one.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    MissingFrontEnd
        If the package was installed without its built front end.
    FileExistsError
        If a recording would be lost; the message names the cure.
    OSError
        If the file cannot be written.
    """
    if holds_recording(place_of(path)):
        page = Path(path).with_suffix(".html")
        raise FileExistsError(f"{path} is a recording, and a page would replace it: name another, as {page}")
    with replacing(path) as file:
        file.writelines(piece.encode() for piece in _pieces(recording, title, renewed))
    return Path(path)


def report_html(recording: Recording, *, title: str | None = None) -> str:
    """The text that `write_report` writes.

    Raises
    ------
    MissingFrontEnd
        If the package was installed without its built front end.
    """
    return "".join(_pieces(recording, title))


def _pieces(recording: Recording, title: str | None, renewed: float | None = None) -> Iterator[str]:
    script, style = asset("report.js").replace("</script", r"<\/script"), asset("report.css")
    script = script.replace("<!--", r"<\!--")
    reload = "" if renewed is None else reloading(renewed)
    head = head_of(recording, title)
    notices = head.notices if renewed is None else [so_far(renewed), *head.notices]
    before, middle, after = _PAGE.split("{blocks}")
    yield before.format(
        policy=policy(style, script, reload),
        title=_ascii(escape(short(head.title, 200))),
        style=style,
        reload=reload and f"<script>{reload}</script>\n",
        verdict=_ascii(words.marked(head.verdict)),
        facts=_ascii("".join(_fact(name, told) for name, told in head.facts)),
        notices=_ascii("".join(_notice(text) for text in notices)),
        tables=_ascii(head.tables),
    )
    first, rest = parts_of(recording)
    settings = {"title": head.title, "tasks": head.tasks}
    yield from _elements("first", first)
    yield middle.format(settings=json.dumps(settings).replace("<", r"\u003c"), script=script)
    yield from _elements("rest", rest)
    yield after


def _fact(name: str, told: str | datetime) -> str:
    # The page's script tells a moment in the time zone of whoever reads it.
    value = escape(told) if isinstance(told, str) else f"<time>{told.isoformat(' ', 'seconds')}</time>"
    return f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>"


def _ascii(html: str) -> str:
    """HTML without other signs: one of them, and browsers hold the page, its data too, twice as wide."""
    return html.encode("ascii", "xmlcharrefreplace").decode("ascii")


def parts_of(recording: Recording) -> tuple[list[bytes], list[bytes]]:
    """What the first picture needs, and what can wait: whole tables, and columns of the largest."""
    first: list[bytes] = []
    soon: list[bytes] = []
    rest: list[bytes] = []
    rows: Counter[str] = Counter()
    batches = recording.packed(coarse=True, explained=True)
    # All parts of a column come at one time: a page takes them in the order of their rows.
    placed = all(_all_placed(msgpack.unpackb(batch)) for batch in batches if table_of(batch) == "attempts")
    for batch in batches:
        table = table_of(batch)
        if table not in FIRST_COLUMNS:
            (first if table in FIRST else soon if table in SOON else rest).append(batch)
            continue
        packed = msgpack.unpackb(batch)
        wanted = FIRST_COLUMNS[table]
        if table == "attempts" and not placed:
            wanted |= _PLACING
        columns = packed["columns"]
        now = [column for column in columns if column["name"] in wanted]
        later = [column for column in columns if column["name"] not in wanted]
        first.append(msgpack.packb(packed | {"columns": now}))
        if later:
            rest.append(msgpack.packb(packed | {"columns": later, "from": rows[table]}))
        rows[table] += packed["rows"]
    return [ahead(recording, extent(batches), map(decode, soon)), *first], [*soon, *rest]


def _all_placed(attempts: dict[str, Any]) -> bool:
    """Whether all attempts of a batch that was not decoded have a thread and times."""
    columns = {column["name"]: column for column in attempts["columns"]}
    if not {"thread", "start", "stop"} <= columns.keys() or "" in columns["thread"]["symbols"]:
        return False
    return all(_is_whole(columns[name]) for name in ("start", "stop"))


def _is_whole(time: dict[str, Any]) -> bool:
    """Whether no moment of a column is missing, as far as its bytes tell."""
    # Where one is missing, all its bits are set: then no plane is left out.
    return not time.get("wide") and (time.get("planes", 4) < 4 or not has_missing(time["data"]))


def _elements(part: str, batches: list[bytes]) -> Iterator[str]:
    for number, block in enumerate(blocks(batches)):
        attributes = f'class="batches" data-part="{part}" id="{part}-{number}"'
        yield f'<script type="application/octet-stream" {attributes}>'
        yield ascii91.encode(block) + "</script>\n"


def asset(name: str) -> str:
    """A built script or style sheet.

    Raises
    ------
    MissingFrontEnd
        If it is not there.
    """
    try:
        return resources.files("dask_insight").joinpath("static", name).read_text("utf-8")
    except OSError:
        raise MissingFrontEnd(
            f"dask_insight/static/{name} is missing: this installation has no built front end. "
            "Install the package with pip (`pip install .` builds it), "
            "or run `npm ci && npm run build` in a checkout."
        ) from None


def policy(style: str, *scripts: str) -> str:
    """What a page with a report may do: apply this style sheet and run these scripts."""
    allowed = " ".join(_digest(script) for script in scripts if script)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {allowed}",
            f"style-src {_digest(style)}",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def blocks(batches: Iterable[bytes]) -> Iterator[bytes]:
    """Batches as compressed blocks, each small enough to read while the page stays alive."""
    yield from at_once(_compressed, _gathered(batches), os.cpu_count() or 1)


def _gathered(batches: Iterable[bytes]) -> Iterator[list[bytes]]:
    for _, alike in groupby(batches, lambda batch: table_of(batch) in SOON):
        gathered: list[bytes] = []
        size = 0
        for batch in alike:
            gathered.append(batch)
            size += len(batch)
            if size >= BLOCK:
                yield gathered
                gathered, size = [], 0
        if gathered:
            yield gathered


def _compressed(batches: list[bytes]) -> bytes:
    packed = _deflated(batches, zlib.Z_FILTERED)
    if sum(map(len, batches)) <= _EXPANSION * len(packed) + _ALLOWANCE:
        return packed
    # Where repetitions are not looked for, a byte takes a bit at least.
    return _deflated(batches, zlib.Z_HUFFMAN_ONLY)


def _deflated(batches: list[bytes], strategy: int) -> bytes:
    # Planes of bytes repeat little: filtered, level 7 gives what level 9 gives, in a fifth of the time.
    packer = zlib.compressobj(7, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    return b"".join((*map(packer.compress, batches), packer.flush()))


def _notice(text: str) -> str:
    return f'<p class="notice">{escape(text)}</p>\n'
