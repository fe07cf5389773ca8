"""How the measurements are printed: Markdown, as docs/measurements.md has it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; numbers are set to the right."""
    body = [[str(cell) for cell in row] for row in rows]
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(header))]
    rule = ["---:" if right else "---" for right in numeric]
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(header), rule, *body])


def machine() -> str:
    """Say in one line on what the measurements were made."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("distributed", "numpy", "pandas"))
    return f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {packages}"


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "-–<≤"
