"""Where settings files are, known without reading them: commands that need none start faster."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["SITE_FILE", "config_files", "nothing_set"]

SITE_FILE = Path("/etc/jobsight/jobsight.yaml")


def config_files(config: Path | None) -> list[Path]:
    """The files that settings are read from, the last wins; `config`: read after the usual ones."""
    usual = (SITE_FILE, "~/.config/jobsight/jobsight.yaml")
    named = config or os.environ.get("JOBSIGHT_CONFIG")
    found = [path for path in (Path(one).expanduser() for one in usual) if path.is_file()]
    return [*found, Path(named)] if named else found


def nothing_set(config: Path | None) -> bool:
    """Whether neither a file nor the environment sets anything: all settings are the defaults."""
    return not config_files(config) and not any(one.startswith("JOBSIGHT_") for one in os.environ)
