"""What Dask logs of tasks that failed, without the tasks: their arguments may be passwords."""

from __future__ import annotations

import re

from ..batch import Texts, Values

_BEGIN = "Compute Failed\n"
#: From the task, or from where the middle of a long text is left out, to the exception.
_TASK = re.compile(
    rf"(\A[^\n]*{_BEGIN}.*?^)(?:Task: |(…\n))(?:.*(?=^Exception: )|.*)", re.MULTILINE | re.DOTALL
)


def without_arguments(messages: Values) -> Values:
    """Messages of `events`; of a task that failed its key, its state and how it failed."""
    if not isinstance(messages, Texts) or _BEGIN.encode() not in bytes(messages.data):
        return messages
    return Texts.of(_TASK.sub(r"\1\2", message) for message in messages.tolist())
