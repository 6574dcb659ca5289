"""Users who log in to a real cluster and have installed Jobsight."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class User:
    """A user who logs in and has installed Jobsight."""

    def __init__(self, name: str, tools: Path, home: Path, **settings: str) -> None:
        self.home = home / name
        own_tools = self.home / "bin"
        own_tools.mkdir(parents=True)
        for tool in tools.glob("*"):  # Jobsight hides its own variables from the tools
            (own_tools / tool.name).write_text(
                f'#!/bin/sh\nJOBSIGHT_TESTBED_USER={name} exec {tool} "$@"\n'
            )
            (own_tools / tool.name).chmod(0o755)
        own = {name: value for name, value in os.environ.items() if "XDG" not in name}
        named = {f"JOBSIGHT_{key.upper()}": value for key, value in settings.items()}
        self.environment = own | {
            "HOME": str(self.home), "JOBSIGHT_MACHINE__EVERY": "0", "LOGNAME": name,
            "PATH": f"{own_tools}:/usr/bin:/bin", "USER": name, **named,
        }  # fmt: skip

    def run(self, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "jobsight", *words]
        ended = subprocess.run(  # noqa: PLW1510 - the caller says which status it expects
            command, env=self.environment, cwd=self.home, capture_output=True, text=True
        )
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def jobs(self) -> dict[str, str]:
        """The states of all jobs that are known, by number."""
        documents = self.json("jobs", "--limit", "0")
        return {one["id"].rpartition(":")[2]: one.get("state", "") for one in documents}
