"""A collector as its own process of the command line, to be killed at any moment."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ruamel.yaml import YAML

from jobsight.documents import JobDocument, parse_key
from jobsight.store import open_store
from tests.support.limits import limit

__all__ = ["Collecting"]


class Collecting:
    """One collector and its store.

    Args:
        name: of the store, for messages and files.
        url: the store's address.
        folder: for the settings, the status and the log; made.
        sources: options of `jobsight collect` that name the sources.
        settings: sections of the settings.
    """

    def __init__(
        self, name: str, url: str, folder: Path, sources: list[str], settings: Mapping[str, Any]
    ) -> None:
        self.name = name
        self._url = url
        self._status = folder / "status.json"
        self._log = folder / "collect.log"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        config = folder / "jobsight.yaml"
        status = {"status_file": str(self._status), "status_seconds": 0.3}
        quick = {"first_pause": 0.2, "longest_pause": 1.0, "stop_seconds": 60, "log_format": "json"}
        with config.open("w") as file:
            YAML(typ="safe").dump({"collect": status | quick, **settings}, file)
        self._command = [sys.executable, "-m", "jobsight", "collect", *sources]
        self._command += ["--config", str(config), "--store", url]

    def _popen(self, *options: str) -> subprocess.Popen[bytes]:
        log: IO[bytes]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [*self._command, *options], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=os.environ | {"NOTIFY_SOCKET": ""},
            )  # fmt: skip

    def start(self) -> None:
        """Start it, where it does not run; also where its store was away when it was to start.

        There it ends, and systemd would start it again too.
        """
        if self._process is not None and self._process.poll() is not None:
            assert "cannot be reached" in self.last(), f"it ended by itself: {self.last()}"
            self._process = None
        if self._process is None:
            self._process = self._popen()

    def kill(self) -> None:
        """`kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Stop it in order; that must end it well."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            status = self._process.wait(timeout=limit(90))
            self._process = None
            assert status == 0, f"{self.name}: the collector ended with {status}: {self.last()}"

    def once(self) -> None:
        """`jobsight collect --once`, which must end well."""
        status = self._popen("--once").wait(timeout=limit(60))
        assert status == 0, f"{self.name}: --once ended with {status}: {self.last()}"

    def status(self) -> dict[str, Any]:
        """What the status file says; empty while it is that of a process that is gone."""
        try:
            found: dict[str, Any] = json.loads(self._status.read_bytes())
        except FileNotFoundError:
            return {}
        of_another = self._process is not None and found["pid"] != self._process.pid
        return {} if of_another else found

    def sources(self) -> dict[str, dict[str, Any]]:
        """What each source that has been asked reports of itself, by its name."""
        sources = self.status().get("sources", {})
        return {name: one["source"] for name, one in sources.items() if one["polls"]}

    def last(self) -> str:
        """The end of its log."""
        return self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""

    def documents(self, scheduler: str) -> dict[str, JobDocument]:
        """All documents of a scheduler, by the job's id in it."""
        with open_store(self._url) as store:
            found = [(parse_key(document.id), document) for document in store.scan()]
        chosen = [(key, document) for key, document in found if key.scheduler == scheduler]
        by_job = {key.job: document for key, document in chosen}
        assert len(by_job) == len(chosen), "a job has two documents"
        return by_job
