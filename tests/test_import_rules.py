"""The house's import rules, and how light the package is to import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: Packages that must not come along with `import dask_insight`.
HEAVY = {"IPython", "bokeh", "dask", "distributed", "jupyterlab", "numpy", "pandas", "psutil", "pynvml"}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the table of layers in a folder's pyproject.toml over the package in that folder."""
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_layers_hold() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_a_breach_is_found(tmp_path: Path) -> None:
    """The table would be worthless if a wrong import passed."""
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    package = tmp_path / "dask_insight"
    for source in (ROOT / "dask_insight").rglob("*.py"):
        copy = package / source.relative_to(ROOT / "dask_insight")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(source.read_bytes())
    schema = package / "schema.py"
    schema.write_text(schema.read_text(encoding="utf-8") + "\nfrom . import session\n", encoding="utf-8")
    result = lint_imports(tmp_path)
    assert result.returncode != 0
    assert "dask_insight.schema -> dask_insight.session" in result.stdout


@pytest.mark.parametrize(
    "statement",
    [
        "import dask_insight",
        "import dask_insight.options, dask_insight.schema",
        "import dask_insight.hosts.cli as cli; cli._parser().parse_args(['run', 'program.py'])",
    ],
)
def test_importing_the_package_is_light(statement: str) -> None:
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert not HEAVY & set(json.loads(output.stdout))


def test_frames_of_other_threads_are_taken_in_one_place() -> None:
    """Elsewhere a process with Python 3.11 could stand still; see `probe.frames.paused`."""
    sources = (ROOT / "dask_insight").rglob("*.py")
    taking = {source.name for source in sources if "_current_frames" in source.read_text(encoding="utf-8")}
    assert taking == {"frames.py"}
