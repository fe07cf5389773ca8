"""What the page about hooks of one's own tells, run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "hooks.md"


def test_the_code_on_the_page_runs(tmp_path: Path) -> None:
    pieces = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len(pieces) == 5
    blocks = "".join(
        f"    {line}" if line.strip() else line
        for piece in pieces
        for line in piece.splitlines(keepends=True)
    )
    # The workers import it too: what is made in it must not start at once.
    script = tmp_path / "page.py"
    script.write_text("def page():\n" + blocks.replace("global ended", "nonlocal ended"), "utf-8")
    run = "import page; page.page()"
    ran = subprocess.run(
        [sys.executable, "-c", run], cwd=tmp_path, capture_output=True, text=True, timeout=150
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
