"""A widget where only messages of threads that marimo knows arrive."""

from __future__ import annotations

import sys
import threading
from queue import Queue
from types import SimpleNamespace
from typing import Any

import pytest
from ipywidgets.widgets.widget import _instances

import dask_insight
from dask_insight.hosts.widget.messenger import messenger
from dask_insight.session.live import live

#: Whether marimo knows the thread.
_known = threading.local()


class Thread(threading.Thread):
    """Like marimo's: known to it, and aware of its cell."""

    should_exit = False

    def run(self) -> None:
        _known.yes = True
        super().run()


class Comm:
    """Drops what other threads send, as marimo's did up to 0.23.13."""

    kernel = "marimo"
    comm_id = "1"

    def __init__(self) -> None:
        self.heard: Queue[Any] = Queue()

    def send(self, data: Any, buffers: Any = None) -> None:
        if getattr(_known, "yes", False):
            self.heard.put(data)

    def on_msg(self, callback: Any) -> None:
        """No page says anything."""

    def close(self) -> None:
        """Nothing to take away."""


@pytest.fixture
def marimo(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    made = SimpleNamespace(Thread=Thread, running_in_notebook=lambda: True, __version__="0.19.11")
    monkeypatch.setitem(sys.modules, "marimo", made)
    monkeypatch.setattr(_known, "yes", True, raising=False)
    return made


def _elsewhere(call: Any) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(10)


def test_what_other_threads_send_arrives(marimo: SimpleNamespace) -> None:
    with dask_insight.record(name="nothing") as run:
        pass
    widget = run.widget()
    (thread,) = [one for one in threading.enumerate() if isinstance(one, Thread)]
    comm = widget.comm = Comm()

    widget.send({"from": "here"})
    assert comm.heard.get_nowait()["content"] == {"from": "here"}
    _elsewhere(lambda: widget.send({"from": "elsewhere"}))
    assert comm.heard.get(timeout=10)["content"] == {"from": "elsewhere"}

    widget.close()
    thread.join(10)
    assert not thread.is_alive()


def test_what_it_watches_ends_with_its_comm() -> None:
    widget = dask_insight.watch()
    comm, name = widget.comm, widget.model_id
    assert live() is not None and _instances[name] is widget
    # As marimo does when the cell is run again.
    comm.close()
    assert live() is None
    assert widget.comm is None and name not in _instances
    widget.open()
    comm.close()
    assert widget.comm is not None, "it has another one"
    widget.close()


def test_it_ends_with_its_cell(marimo: SimpleNamespace) -> None:
    made = messenger()
    assert made is not None
    (thread,) = [one for one in threading.enumerate() if isinstance(one, Thread)]
    thread.should_exit = True
    thread.join(10)
    assert not thread.is_alive()
    told: list[int | None] = []
    _elsewhere(lambda: made.say(lambda: told.append(threading.get_ident())))
    assert len(told) == 1


def test_a_message_that_cannot_be_sent_costs_no_other(marimo: SimpleNamespace) -> None:
    def fails() -> None:
        raise OSError("the page has gone")

    made = messenger()
    assert made is not None
    arrived = threading.Event()
    for send in (fails, arrived.set):
        _elsewhere(lambda send=send: made.say(send))  # type: ignore[misc]
    assert arrived.wait(10)
    made.end()


@pytest.mark.parametrize("version", ["0.23.14", "0.25.2", "1.0.0rc1"])
def test_marimo_that_hears_all_threads_needs_none(marimo: SimpleNamespace, version: str) -> None:
    marimo.__version__ = version
    assert messenger() is None


def test_scripts_and_other_hosts_need_none(marimo: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    marimo.running_in_notebook = lambda: False
    assert messenger() is None
    monkeypatch.delitem(sys.modules, "marimo")
    assert messenger() is None
