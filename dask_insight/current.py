"""Who asks a recording that is still made is told of all that has happened until then."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import local
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from .store import Store

_S = TypeVar("_S", bound="Store")
_P = ParamSpec("_P")
_R = TypeVar("_R")

_this_thread: Any = local()


def current(question: Callable[Concatenate[_S, _P], _R]) -> Callable[Concatenate[_S, _P], _R]:
    """Have what happened by now come first, once for all that a question asks in its turn."""

    @wraps(question)
    def asked(store: _S, /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if getattr(_this_thread, "asking", False):
            return question(store, *args, **kwargs)
        _this_thread.asking = True
        try:
            store.catch_up()
            return question(store, *args, **kwargs)
        finally:
            _this_thread.asking = False

    return asked
