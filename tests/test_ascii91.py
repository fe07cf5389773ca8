"""Bytes as text that may stand in HTML."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dask_insight.ascii91 import SIGNS, decode, encode

KNOWN = {
    "dask_insight": "w$`q,g*u?eK[ZU1",
    "all": (
        "n#cgn#sE8!d/5F8%TKA! /=4UT(C!!o+9p|;38b o(JUq]I0y9]TDB-n.Yjg`; 5__=lTKS]I-/zQuY9C)w(eTxL"
        "e]N1AT3?(OWAu]B; 2oD/2jCjs6Y)gg*@b3W|kDHN>sp9p2uY6UikJzL3cQ-KyXdufu{Z(UQs,1FY%~S3;83Lb.V"
        "YRm]i0HCPkYF:AeZ?wMuy9m1j@zX+z?_~A+2.D8|)p?kvXucdfgJ?M^kDE`}e6PhH0HbOV%[`t~4Wp)m-V%z__MJ"
        "zIDHFO`qoza6phr8:ydZ4-:vSEBO!r;(UN)m#gpz8j}f4{crp}H!"
    ),
}


@given(st.binary(max_size=200))
def test_bytes_come_back(data: bytes) -> None:
    assert decode(encode(data)) == data


@pytest.mark.parametrize("length", range(70))
def test_every_length_comes_back(length: int) -> None:
    for data in (bytes(length), b"\xff" * length, bytes(range(1, length + 1))):
        assert decode(encode(data)) == data


def test_the_text_may_stand_in_an_element_and_in_an_attribute() -> None:
    data = np.random.default_rng(0).bytes(200_000)
    text = encode(data)
    assert set(text) == set(SIGNS)
    assert text.isascii() and text.isprintable()
    assert not set(text) & set("\"&'<")


def test_it_is_shorter_than_base64() -> None:
    assert len(encode(bytes(130_000))) == 160_000


@given(st.text(max_size=60) | st.text(SIGNS, max_size=60))
def test_what_is_no_such_text_is_refused_or_the_only_text_of_its_bytes(text: str) -> None:
    try:
        data = decode(text)
    except ValueError:
        return
    assert encode(data) == text


@pytest.mark.parametrize(
    "text", ["!", "<<", "~~", " \n", "\u00e9\u00e9", "  ~", " " * 6, " " * 27, "\ud800 "]
)
def test_damage_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="ascii91"):
        decode(text)


def test_the_page_reads_the_same() -> None:
    # src-ts/core/ascii91.test.ts has the same texts.
    assert encode(b"dask_insight") == KNOWN["dask_insight"]
    assert encode(bytes(range(256))) == KNOWN["all"]
