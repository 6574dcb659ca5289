"""The demonstration: from a real pool's event log to "release or remove", step by step.

``python examples/demo.py FOLDER`` runs the command line as a user would, shows each command and
what it prints, and writes everything, the report too, into FOLDER. ``make demo`` calls it.
"""

from __future__ import annotations

import datetime as dt
import gzip
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

LOG = "data/pool-a.log.gz"
ABOUT = (
    "This is the event log of a real HTCondor 23.9.6 pool that was set up for this demonstration: "
    "one access point, six sites with 62 slots, 14 owners. A script submitted the jobs and "
    "injected the faults: outages of transfer origins, site networks and licence servers, missing "
    "inputs, limits exceeded, broken programs. Time is compressed: jobs last seconds to a minute, "
    "outages one or two minutes. So it shows that the method works on what HTCondor really writes, "
    "not how well it will work on your pool."
)
SHOWN = 30
_DATE = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")


def step(title: str, *arguments: str, shown: int = SHOWN) -> None:
    """Run one command of jobsight, visibly; leave with its status where it fails."""
    print(f"\n── {title}\n$ {shlex.join(['jobsight', *arguments])}", flush=True)
    command = [str(Path(sys.executable).with_name("jobsight")), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    lines = done.stdout.splitlines()
    print("\n".join(lines[:shown]))
    if len(lines) > shown:
        print(f"… ({len(lines) - shown} more lines)")
    if done.returncode:
        sys.exit(done.returncode)


def choose_moment(events: Path, model: Path) -> str:
    """A moment of the test part with many held jobs whose outcomes are in the log."""
    import polars as pl

    from jobsight.clock import format_micros
    from jobsight.history.labels import label_rows
    from jobsight.history.timelines import History
    from jobsight.learning.modeldir import ModelDir
    from jobsight.questions.hold.examples.decisions import hold_decisions
    from jobsight.questions.hold.question import HOLD
    from jobsight.questions.hold.reporting import richest_moment

    trained = ModelDir.open(model, HOLD, only_chosen=True)
    history = History.from_table(pl.read_parquet(events))
    decisions = hold_decisions(history, trained.settings, label_rows(history)).table
    moment = richest_moment(decisions, int(trained.borders[1]))
    return format_micros(int(history.clock.max()) if moment is None else moment)


def main(folder: Path) -> None:
    """Run all steps; about two minutes on two cores."""
    began = time.monotonic()
    events, model = folder / "events.parquet", folder / "model"
    verified, report = folder / "verify.json", folder / "report.html"
    # The demonstration does not touch the user's registry.
    os.environ["JOBSIGHT_REGISTRY"] = str(folder.resolve() / "registry")
    print(f"Held jobs, end to end. {ABOUT}")
    step("What is in the log?", "events", LOG, "-o", str(events))
    step("Train on the past, choose and calibrate by backtest, test on later data",
         "train", "hold", LOG, "-o", str(model))  # fmt: skip
    step(
        "How good is it, compared with rule sets and rates?",
        "evaluate",
        "hold",
        LOG,
        "--model",
        str(model),
    )
    step("Audit the model",
         "verify", "hold", LOG, "--model", str(model), "-o", str(verified))  # fmt: skip
    at = choose_moment(events, model)
    step("What to do with the jobs held at a moment after the training?",
         "hold", "--all", "--log", LOG, "--model", str(model), "--at", at, shown=42)  # fmt: skip
    step("A report as one HTML page",
         "report", "hold", LOG, "--model", str(model), "--at", at, "--verified", str(verified),
         "--about", ABOUT, "-o", str(report))  # fmt: skip
    print(f"\nDone in {time.monotonic() - began:.0f} s. The report: {report.resolve().as_uri()}")


def _later(record: bytes, span: dt.timedelta) -> bytes:
    """A record with all its times so much later."""

    def moved(found: re.Match[bytes]) -> bytes:
        text = found[0].decode()
        return (dt.datetime.fromisoformat(text) + span).isoformat(text[10]).encode()

    return _DATE.sub(moved, record)


def live(folder: Path) -> None:
    """Serve the pool as if that moment were now, and go on as fast as it did, until Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started is ended too
    from jobsight.store import open_store

    log, store = folder / "EventLog", folder / "jobs.db"
    os.environ["JOBSIGHT_REGISTRY"] = str(folder.resolve() / "registry")
    os.environ["XDG_STATE_HOME"] = str(folder.resolve())
    records = gzip.decompress(Path(LOG).read_bytes()).split(b"\n...\n")[:-1]
    times = [dt.datetime.fromisoformat(_DATE.search(one)[0].decode()) for one in records]  # type: ignore[index]
    at = choose_moment(folder / "events.parquet", folder / "model")
    start = dt.datetime.fromisoformat(at).replace(tzinfo=None, microsecond=0)
    here = next((k for k, one in enumerate(times) if one > start), len(times))
    since = dt.datetime.now(dt.UTC).replace(tzinfo=None, microsecond=0) - start
    records = [_later(one, since) for one in records]
    for old in folder.glob(store.name + "*"):
        old.unlink()
    open_store(str(store), create=True).close()
    log.write_bytes(b"".join(one + b"\n...\n" for one in records[:here]))
    command = [str(Path(sys.executable).with_name("jobsight"))]
    into = ["--store", str(store)]
    collector = subprocess.Popen([*command, "collect", "--event-log", str(log), *into])  # noqa: S603
    server = subprocess.Popen([*command, "serve", *into])  # noqa: S603
    print("The pages: http://127.0.0.1:8642/ (Ctrl-C ends)", flush=True)
    try:
        for record, then, before in zip(
            records[here:], times[here:], [start, *times[here:]], strict=False
        ):
            time.sleep(max((then - before).total_seconds(), 0.0))
            with log.open("ab") as file:
                file.write(record + b"\n...\n")
        server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.terminate()
        collector.terminate()


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"  # as that of the pool
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "demo")
    live(place) if sys.argv[2:] == ["live"] else main(place)
