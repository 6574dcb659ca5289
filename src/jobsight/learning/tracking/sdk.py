"""The process that holds the W&B SDK: each line of its standard input, JSON, is a request.

The SDK starts threads and a service, listens at exit, reads its environment once, and waits for
servers as it sees fit. In a process of its own none of that reaches a training: its parent
(`jobsight.learning.tracking.child`) waits as long as it likes, and ends it.

Only what the user asked to track is sent: no code, no git state, no console, no host name, command
line, installed packages or machine, since jobs run on other people's machines.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobsight.text import printable

__all__ = ["main"]

_KEY_LIKE = re.compile(r"[0-9A-Za-z_-]{32,}")
MODEL = "model"


def _explained(error: BaseException) -> str:
    """An error of the SDK as one line, without anything that could be a key."""
    text = str(error) or type(error).__name__
    key = os.environ.get("WANDB_API_KEY")
    if key:
        text = text.replace(key, "…")
    return printable(_KEY_LIKE.sub("…", text), 200)


class _Session:
    """At most one W&B run."""

    def __init__(self) -> None:
        self._run: Any = None

    def open(self, given: Mapping[str, Any]) -> None:
        """Start, or go on with, a run."""
        import wandb

        wanted = {
            name: given[name] for name in ("entity", "project", "sweep_id") if given.get(name)
        }
        settings = wandb.Settings(
            mode=given["mode"],
            root_dir=given["folder"],
            init_timeout=given["patience"],
            finish_timeout=given["patience"],
            run_id=given["id"],
            run_name=given["name"],
            run_group=given["sweep"],
            run_tags=tuple(given["tags"]),
            resume="allow",
            host="",
            console="off",
            silent=True,
            symlink=False,
            save_code=False,
            disable_code=True,
            disable_git=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_disable_machine_info=True,
            x_save_requirements=False,
            # What is not in the file when the machine takes itself back is lost for W&B.
            x_transaction_log_flush_interval=1.0,
            **wanted,
        )
        self._run = wandb.init(config=dict(given["config"]), settings=settings)
        self._run.define_metric("epoch")
        self._run.define_metric("*", step_metric="epoch")

    def log(self, given: Mapping[str, Any]) -> None:
        """One epoch, as the step of its number."""
        self._run.log({"epoch": given["epoch"], **given["values"]}, step=given["epoch"])

    def model(self, given: Mapping[str, Any]) -> None:
        """Copies of files, kept in the folder of the run: where that goes, they go."""
        kept = Path(self._run.dir) / MODEL
        shutil.copytree(given["folder"], kept, dirs_exist_ok=True)
        for path in sorted(kept.rglob("*")):
            if path.is_file():
                self._run.save(glob.escape(str(path)), base_path=self._run.dir, policy="end")

    def end(self, given: Mapping[str, Any]) -> None:
        """The end of the run (exit status 0), or of this attempt."""
        if self._run is not None:
            run, self._run = self._run, None
            run.summary.update(given["summary"])
            run.finish(exit_code=given["exit"])

    def sweep(self, given: Mapping[str, Any]) -> str:
        """Make a sweep on the server; its id."""
        import wandb

        return str(
            wandb.sweep(given["definition"], entity=given["entity"], project=given["project"])
        )

    def point(self, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the server for one point; None where its sweep has no more."""
        import wandb

        found: dict[str, Any] = {}

        # What goes wrong in here the agent would only print.
        def take() -> None:
            # An agent leaves what it was given in a file of this name.
            from ruamel.yaml import YAML

            point = YAML(typ="safe").load(Path(os.environ["WANDB_SWEEP_PARAM_PATH"]))
            values = {
                name: item["value"] for name, item in point.items() if name != "wandb_version"
            }
            found.update(id=os.environ["WANDB_RUN_ID"], parameters=values)

        wandb.agent(given["sweep"], take, entity=given["entity"], project=given["project"], count=1)
        return found or None


def _answer(session: _Session, verb: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": getattr(session, verb)(given)}
    except (Exception, SystemExit) as error:
        return {"error": _explained(error)}


def main() -> None:
    """Do what is asked until the input ends; every request is answered by a line."""
    # What the SDK, and the service that it starts, print or read must not mix with the answers.
    asked, answers = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    session = _Session()
    for line in asked:
        values = json.loads(line)
        answers.write(json.dumps(_answer(session, values.pop("do"), values)) + "\n")
        answers.flush()
    session.end({"summary": {}, "exit": 1})  # the training was killed


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
    finally:
        # Our parent does this too, unless it was killed.
        shutil.rmtree(os.environ["WANDB_CACHE_DIR"], ignore_errors=True)
