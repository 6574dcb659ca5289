"""docs/architecture.md names every module, so that a newcomer finds each."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/jobsight"


def test_every_module_is_named() -> None:
    words = set(re.findall(r"\w+", (ROOT / "docs/architecture.md").read_text()))
    modules = [path for path in SOURCE.rglob("*.py") if not path.stem.startswith("__")]
    # A verb is a file of its name; suites are found by their package.
    verbs = {path for path in (SOURCE / "cli").iterdir() if "def register(" in _text(path)}
    suites = set((SOURCE / "testing").iterdir())
    assert len(modules) > 300
    assert [
        str(path.relative_to(SOURCE))
        for path in modules
        if path.stem not in words and path not in verbs | suites
    ] == []


def _text(path: Path) -> str:
    return path.read_text() if path.suffix == ".py" else ""
