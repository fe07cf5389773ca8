"""The build of the JupyterLab extension fails loudly, and then leaves the one that was there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(
    NODE is None or not (ROOT / "node_modules" / "esbuild").exists(), reason="needs Node.js and `npm ci`"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree whose extension has been built before, in an environment without jupyter-builder."""
    source = tmp_path / "source"
    (source / "labextension" / "src").mkdir(parents=True)
    (source / "labextension" / "src" / "index.ts").write_text("export default [];\n", encoding="utf-8")
    shutil.copy(ROOT / "labextension" / "build.mjs", source / "labextension")
    (source / "node_modules").symlink_to(ROOT / "node_modules")
    built = source / "dask_insight" / "labextension"
    built.mkdir(parents=True)
    (built / "package.json").write_text("the one before", encoding="utf-8")
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "node").symlink_to(str(NODE))
    return source


def put_builder(tree: Path, build: str) -> None:
    """A jupyter-builder that does `build`."""
    builder = tree.parent / "scripts" / "jupyter-builder"
    builder.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{build}\n', encoding="utf-8")
    builder.chmod(0o755)


def build(tree: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(tree.parent / "scripts"), "/usr/bin", "/bin"])
    return subprocess.run(
        [str(tree.parent / "scripts" / "node"), str(tree / "labextension" / "build.mjs")],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("builder", "words"),
    [
        (None, "pip install jupyter-builder"),
        ("exit 3", "jupyter-builder ended with 3"),
        ("exit 0", "left nothing that JupyterLab could load"),
    ],
)
def test_what_was_built_before_stays_where_a_build_fails(tree: Path, builder: str | None, words: str) -> None:
    if builder is None and shutil.which("jupyter-builder", path="/usr/bin:/bin"):
        pytest.skip("this machine has a jupyter-builder of its own")
    if builder is not None:
        put_builder(tree, builder)
    done = build(tree)
    assert done.returncode == 1
    assert words in done.stderr and "left as it was" in done.stderr
    assert (tree / "dask_insight/labextension/package.json").read_text("utf-8") == "the one before"


def test_a_build_takes_the_place_of_the_one_before(tree: Path) -> None:
    made = tree / "dask_insight" / "labextension"
    (made / "old.js").write_text("old", encoding="utf-8")
    manifest = '{"jupyterlab": {"_build": {"load": "static/entry.js"}}}'
    put_builder(
        tree,
        f"mkdir -p {made}/static; touch {made}/static/entry.js; echo '{manifest}' > {made}/package.json",
    )
    done = build(tree)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in made.iterdir()) == ["package.json", "static"]
