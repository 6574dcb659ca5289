"""The process that holds the W&B SDK: it reads what a run reports from its standard input.

The SDK starts threads and a service, listens at exit, reads its environment once, and waits for
servers as it sees fit. In a process of its own none of that reaches a training, which writes to it
without waiting (`jobsight.tuning.tracking`). Its output is one line per problem.

Only what the user asked to track is sent: no code, no git state, no console, no host name, command
line, installed packages or machine, since runs are on other people's machines.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jobsight.text import printable

__all__ = ["explained", "main"]

_KEY_LIKE = re.compile(r"[0-9A-Za-z_-]{32,}")


def explained(error: BaseException) -> str:
    """An error of the SDK as one line, without anything that could be a key."""
    text = str(error) or type(error).__name__
    if key := os.environ.get("WANDB_API_KEY"):
        text = text.replace(key, "…")
    return printable(_KEY_LIKE.sub("…", text), 200)


def _begun(start: Mapping[str, Any], say: Callable[[str], object]) -> Any:
    """A run of W&B's: online if asked for and possible, else in files."""
    before = _attempts(start)
    try:
        return _begun_as(start["mode"], start)
    except (Exception, SystemExit) as error:
        if start["mode"] == "offline":
            raise
        import wandb

        wandb.teardown()  # its service keeps the run's id in use
        for attempt in _attempts(start) - before:
            shutil.rmtree(attempt, ignore_errors=True)
        say(f"{explained(error)}; this run is kept in files, which 'wandb sync' sends")
        return _begun_as("offline", start)


def _attempts(start: Mapping[str, Any]) -> set[Path]:
    """The folders that the SDK made for attempts of this run."""
    return set(Path(start["folder"], "wandb").glob(f"*run-*-{start['id']}"))


def _begun_as(mode: str, start: Mapping[str, Any]) -> Any:
    import wandb

    settings = wandb.Settings(
        mode=mode,
        root_dir=start["folder"],
        init_timeout=start["patience"],
        finish_timeout=start["patience"],
        project=start["project"],
        entity=start["entity"],
        run_id=start["id"],
        run_name=start["name"],
        run_group=start["group"],
        run_tags=tuple(start["tags"]),
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
    )
    run = wandb.init(config=dict(start["config"]), settings=settings)
    run.define_metric("epoch")
    run.define_metric("*", step_metric="epoch")
    return run


def main() -> None:
    """Report one attempt of a run: its start, its epochs, its end; the input's end is the last."""
    # What the SDK and its service print or read must not mix with our lines.
    lines, output = os.fdopen(os.dup(0), "r"), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)

    def say(text: str) -> None:
        print(text, file=output, flush=True)

    start = json.loads(next(lines))
    try:
        run, status = _begun(start, say), 1  # 1: the training was killed, or the run goes on later
        for line in lines:
            values = json.loads(line)
            if "epoch" in values:
                run.log(values, step=values["epoch"])
            else:
                run.summary.update(values["summary"])
                status = int(values["failed"])
        run.finish(exit_code=status)
    except (Exception, SystemExit) as error:
        say(f"{explained(error)}; what it did not take is not shown there")
    finally:
        for attempt in _attempts(start):  # what only the SDK's makers would read
            shutil.rmtree(attempt / "logs", ignore_errors=True)
            shutil.rmtree(attempt / "tmp", ignore_errors=True)
        # The training does this too, unless it was killed.
        shutil.rmtree(os.environ["WANDB_CACHE_DIR"], ignore_errors=True)


if __name__ == "__main__":
    main()
