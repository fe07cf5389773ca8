"""The picture as PDF: nbconvert makes LaTeX's of an SVG by Inkscape, and stops where there is none."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from xml.etree import ElementTree

from ...figures.texts import width
from ...words import SPACE

#: In every reader of PDF, so none has to be in the file.
_FONTS = " ".join(
    f"/F{weight} <</Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding>>"
    for weight, name in (("400", "Helvetica"), ("600", "Helvetica-Bold"))
)
_SIZE = 12


def pdf(drawn: str) -> bytes:
    """One page that shows what `drawn` does, an SVG that `picture.svg` has made.

    Signs that no language of the West has become question marks.
    """
    page = ElementTree.fromstring(drawn)
    size = f"{page.attrib['width']} {page.attrib['height']}"
    marks = [_operators(each) for each in page if "x" in each.attrib or "d" in each.attrib]
    # SVG counts from the top.
    content = "\n".join([f"1 0 0 -1 0 {page.attrib['height']} cm", *marks])
    [lanes] = [
        base64.b64decode(each.attrib["href"].partition(",")[2]) for each in page if "href" in each.attrib
    ]
    return _file(
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents 4 0 R "
        f"/Resources <</Font <<{_FONTS}>> /XObject <</Lanes 5 0 R>>>>>>".encode(),
        _stream("", zlib.compress(content.encode(), 9)),
        _image(lanes),
    )


def _operators(mark: ElementTree.Element) -> str:
    """What PDF has for a line, a text, a filled box, or the lanes."""
    has = mark.attrib
    if "d" in has:
        return f"{_color(has['stroke'])} RG {has['d'][1:].replace('L', ' m ')} l S"
    x, y = float(has["x"]), float(has["y"])
    if "text-anchor" in has:
        text = (mark.text or "").replace(SPACE, "\N{NO-BREAK SPACE}")
        x -= width(text, _SIZE) / 2 if has["text-anchor"] == "middle" else 0
        signs = text.encode("cp1252", "replace").hex()
        font = f"/F{has['font-weight']} {_SIZE} Tf"
        return f"{_color(has['fill'])} rg BT {font} 1 0 0 -1 {x:.5g} {y:.5g} Tm <{signs}> Tj ET"
    wide, high = has["width"], has["height"]
    if "fill" in has:
        return f"{_color(has['fill'])} rg {x:.5g} {y:.5g} {wide} {high} re f"
    return f"q {wide} 0 0 -{high} {x:.5g} {y + float(high):.5g} cm /Lanes Do Q"


def _color(text: str) -> str:
    """``#rrggbb`` or ``rgb(…)`` as three shares."""
    parts = bytes.fromhex(text[1:]) if text.startswith("#") else map(int, re.findall(r"\d+", text))
    return " ".join(f"{part / 255:.3f}" for part in parts)


def _image(png: bytes) -> bytes:
    """The rows of a PNG, packed as they are there."""
    chunks, at = {}, 8
    while at < len(png):
        (size,) = struct.unpack_from(">I", png, at)
        chunks[png[at + 4 : at + 8]] = png[at + 8 : at + 8 + size]
        at += 12 + size
    wide, high = struct.unpack_from(">II", chunks[b"IHDR"])
    colors, space = 3, "/DeviceRGB"
    if palette := chunks.get(b"PLTE"):
        colors, space = 1, f"[/Indexed /DeviceRGB {len(palette) // 3 - 1} <{palette.hex()}>]"
    about = (
        f"/Type /XObject /Subtype /Image /Width {wide} /Height {high} /BitsPerComponent 8 "
        f"/ColorSpace {space} /DecodeParms <</Predictor 15 /Colors {colors} /Columns {wide}>> "
    )
    return _stream(about, chunks[b"IDAT"])


def _stream(about: str, packed: bytes) -> bytes:
    head = f"<<{about}/Filter /FlateDecode /Length {len(packed)}>>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _file(*objects: bytes) -> bytes:
    made = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places: list[bytes] = []
    for number, each in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    count = len(objects) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, b"".join(places))
    return made + table + b"trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, len(made))
