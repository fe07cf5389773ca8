"""What is left of tracebacks and logs in a recording that keeps no source code."""

from __future__ import annotations

import json
import re

from ..probe.logs import CUT

#: An entry of a traceback, behind bars where it is one of a group, and the code below it, indented further.
_ENTRY = re.compile(r'^([ |]*)(File ".+", line \d+.*\n)(?:\1  .*(?:\n|\Z))+', re.MULTILINE)
#: What Dask logs of a task that failed: its arguments, and a traceback that `errors` has as well.
_FAILED = re.compile(
    rf"(?<=: Compute Failed\n)(.*?)^(?:Task: |{CUT}$).*?(^Exception: [^\n]*\n)?(?:^Traceback: .*)?\Z",
    re.MULTILINE | re.DOTALL,
)
#: A warning that Python hands to loggers: what warns stands in its last line.
_WARNING = re.compile(r"\A(py\.warnings: .*)\n  .*\Z", re.DOTALL)
#: After what is left out of a long text, what may be the end of a line of code, and more below an entry.
_REST = re.compile(rf"^{CUT}\n.*\n(?:[ |]{{4}}.*\n)*", re.MULTILINE)


def without_source(text: str) -> str:
    """A traceback, or a text with some in it, without the code below their entries."""
    return _ENTRY.sub(r"\1\2", text)


def log_without_source(text: str) -> str:
    """What was logged without code, nor the arguments of a task that failed."""
    text = _WARNING.sub(r"\1", _FAILED.sub(r"\1\2", text))
    return without_source(_REST.sub(f"{CUT}\n", text))


def detail_without_source(detail: str) -> str:
    """What Dask told of an event, as JSON, without the code in its texts.

    Nothing of what was cut, in which code may begin anywhere.
    """
    told = json.loads(detail) if detail else None
    if not isinstance(told, dict) or "cut" in told:
        return ""
    texts = {name: without_source(value) for name, value in told.items() if isinstance(value, str)}
    return json.dumps(told | texts)
