"""Showing a file in the browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path


def show(path: Path) -> bool:
    """Open a file in the person's browser; False where there is none with a screen.

    On a server, Python would find browsers for the terminal and hand it over to them.
    """
    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} & os.environ.keys():
        return False
    return webbrowser.open(path.absolute().as_uri())
