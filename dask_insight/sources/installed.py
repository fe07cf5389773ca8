"""Which files are of installed packages."""

from __future__ import annotations

import re

_PACKAGES = re.compile(r"[\\/](?:site|dist)-packages[\\/]")


def is_installed(file: str) -> bool:
    """Whether a file is of an installed package: one of an environment, of the system or of the user."""
    return _PACKAGES.search(file) is not None
