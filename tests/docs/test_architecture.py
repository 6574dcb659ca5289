"""What docstrings and docs refer to is there."""

import importlib
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/jobsight"


def test_what_texts_refer_to_is_there() -> None:
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    named = {
        found
        for path in texts
        for found in re.findall(r"`(jobsight(?:\.\w+)+)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    assert [name for name in sorted(named) if not _leads_somewhere(name.split("."))] == []


def _leads_somewhere(parts: list[str]) -> bool:
    """Whether it is a module, or a name in one and in what that is."""
    for known in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:known]))
        except ImportError:
            continue
        for name in parts[known:]:
            if not hasattr(found, name):
                # Fields without a default are no attributes of their class.
                return name in getattr(found, "__annotations__", {}) and name == parts[-1]
            found = getattr(found, name)
        return True
    return False
