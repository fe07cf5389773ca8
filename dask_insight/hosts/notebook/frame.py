"""The report as the document of a sandboxed frame: small, since every output of a notebook carries one."""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from ... import ascii91
from ..report import asset, blocks, parts_of, policy

if TYPE_CHECKING:
    from ...recording import Recording

#: Unpacks style and script, whose digests the page's policy names, then lets the report open itself.
_BOOT = """\
const bytes = text => {
  const values = new Uint8Array(128);
  let count = 0;
  for (let code = 32; 127 > code; code++) if (![34, 38, 39, 60].includes(code)) values[code] = count++;
  const made = new Uint8Array((13 * (text.length >> 1) + 6 * (text.length % 2)) >> 3);
  let bits = 0, width = 0, to = 0;
  for (let at = 0; text.length > at; at += 2) {
    const pair = text.length > at + 1;
    const high = pair ? 91 * values[text.charCodeAt(at + 1)] : 0;
    bits |= (values[text.charCodeAt(at)] + high) * 2 ** width;
    for (width += pair ? 13 : 6; width > 7; width -= 8, bits >>= 8) made[to++] = bits;
  }
  return made;
};
const text = id => {
  const packed = bytes(document.getElementById(id).textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
};
const put = (kind, text) => {
  const made = document.createElement(kind);
  made.textContent = text;
  document.body.append(made);
};
Promise.all([text("style"), text("script")]).then(
  ([style, script]) => { put("style", style); put("script", script); },
  () => put("p", "This browser is too old to show the report.")
);
"""
#: Tells the frame by the green of the page whether that is dark: from inside nothing of it can be seen.
#: Where it cannot be told, as in VS Code, which puts no ground there, the colour of the text tells.
_FOLLOW = """\
const read = color => {
  const [, fine, values] = color.match(/^(?:rgba?|(color))\\((?:srgb )?([\\d., /]+)\\)$/) || ['', '', ''];
  const [, green, , opacity = 1] = values.match(/[\\d.]+/g) || [];
  return [fine ? 255 * green : +green, opacity];
};
let light = !(read(getComputedStyle(this).color)[0] > 136);
for (let each = this; each; each = each.parentElement) {
  const [green, opacity] = read(getComputedStyle(each).backgroundColor);
  if (isNaN(green) || 0.9 > opacity) continue;
  light = green > 118;
  break;
}
this.style.colorScheme = light ? 'light' : 'dark';
"""
#: The output has a headline and a margin already.
_FRAMED = "body{padding:0 2px 8px}#tools{justify-content:flex-end}"
_SANDBOX = "allow-scripts allow-downloads"
_HEIGHT = 640


def frame(recording: Recording, title: str, inside: str) -> str:
    """An ``iframe`` with the whole report; `inside` is HTML for viewers that know no frames.

    Raises
    ------
    MissingFrontEnd
        If the package was installed without its built front end.
    """
    # Signs that may stand in a quoted attribute stay: the data has many.
    document = escape("".join((_head(), _body(recording, title)))).replace("&gt;", ">")
    return (
        f'<iframe sandbox="{_SANDBOX}" allow="clipboard-write" title="Dask Insight report" loading="lazy" '
        f'width="100%" height="{_HEIGHT}" style="border:0;width:100%;height:{_HEIGHT}px;resize:vertical" '
        f'onload="{_FOLLOW}" srcdoc="{document}">{inside}</iframe>'
    )


def front_end_size() -> int:
    """Bytes that the front end takes in each output."""
    return len(_head()) + sum(map(len, _front_end()))


def _head() -> str:
    style, script = map(_unpacked, _front_end())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(style, _BOOT, script)}">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        "<title>Dask Insight</title></head>"
    )


def _body(recording: Recording, title: str) -> str:
    first, rest = parts_of(recording)
    style, script = _front_end()
    settings = json.dumps({"title": title}).replace("<", r"\u003c")
    return "".join(
        (
            '<body><div id="tools"></div><main id="page"></main>',
            *_elements("first", first),
            *_elements("rest", rest),
            f"<script type=application/json id=report>{settings}</script>",
            f"<script type=application/octet-stream id=style>{style}</script>",
            f"<script type=application/octet-stream id=script>{script}</script>",
            f"<script>{_BOOT}</script></body></html>",
        )
    )


def _elements(part: str, batches: list[bytes]) -> list[str]:
    # The renderer in JupyterLab finds the data by these very words: src-ts/hosts/saved-report.ts.
    return [
        f"<script type=application/octet-stream class=batches data-part={part} id={part}-{number}>"
        f"{ascii91.encode(block)}</script>"
        for number, block in enumerate(blocks(batches))
    ]


@lru_cache(maxsize=1)
def _front_end() -> tuple[str, str]:
    """Style sheet and script, compressed."""
    style, script = asset("report.css") + _FRAMED, asset("report.js")
    packed = [ascii91.encode(zlib.compress(text.encode(), 9)) for text in (style, script)]
    return packed[0], packed[1]


def _unpacked(packed: str) -> str:
    return zlib.decompress(ascii91.decode(packed)).decode()
