"""Freed memory is handed back between steps as often as that is cheap."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dask_insight import heap


def test_what_takes_long_is_done_seldom_between_steps_and_always_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, calls = [100.0], []

    def trim(_: int) -> None:
        calls.append(now[0])
        now[0] += 0.5

    monkeypatch.setattr(heap, "_trim", lambda: trim)
    monkeypatch.setattr(heap, "_due", 0.0)
    monkeypatch.setattr(heap, "time", SimpleNamespace(monotonic=lambda: now[0]))
    heap.give_back_between()
    heap.give_back_between()
    assert calls == [100.0]
    heap.give_back()
    assert calls == [100.0, 100.5]
    now[0] += 5.1
    heap.give_back_between()
    assert len(calls) == 3


def test_where_nothing_can_be_handed_back_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_trim", lambda: None)
    heap.give_back()
    heap.give_back_between()
