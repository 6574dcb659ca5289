"""`python -m tests.trial`: play seeds with all arms, as far as they have no results, and write."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

from jobsight.cli.reading import read_for
from jobsight.learning.dataset import Dataset
from jobsight.learning.train import train
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import Settings
from tests.testbed.errors import BedError, Unavailable
from tests.trial.acting import acting_with
from tests.trial.bot import (
    Policy,
    always_release,
    answers,
    answers_in_ads,
    ask_people,
    habits,
)
from tests.trial.results import write_page
from tests.trial.schedule import REGIMES, plan
from tests.trial.stage import run_arm

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/develop/proof/TRIAL.md"
ARMS = ("nothing", "people", "release", "rules", "rates", "jobsight", "policy")
WARM_UP = 0
"""Seed of the run that the models are trained on; no arm is compared on it.

It has small submissions, since training leaves out those that cross a border of its parts.
"""
LONGER = 1.5
"""How much longer it is than the runs of the arms."""


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.trial", description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6], metavar="SEED")
    parser.add_argument("--regime", choices=REGIMES, default="mixed")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--jobs", type=int, default=300, help="of a run")
    parser.add_argument("--seconds", type=float, default=480.0, help="that a run takes at most")
    parser.add_argument("--out", type=Path, default=ROOT / "trial", help="folder of results")
    parser.add_argument("--page", type=Path, default=PAGE, help="the Markdown page to write")
    return parser.parse_args(given)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _train_rates(log: Path, folder: Path) -> None:
    """Rates that learn on, for the same answers as those of the other model."""
    history, _, sources = read_for(HOLD, [str(log)], Settings())
    data = Dataset.for_training(HOLD, history, HoldSettings())
    names = ("constant", "rates:learning")
    train(data, names=names, sources=sources).model.save(folder, seed=0, facts={})


def _train_all(log: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "jobsight", "train", "hold", str(log), "--no-registry"]
    subprocess.run([*command, "-o", str(folder)], check=True, stdout=subprocess.DEVNULL)


def _model(name: str, args: argparse.Namespace) -> str:
    """The folder of a model, trained on an earlier run of the same regime in which owners decide.

    What is there already is used.
    """
    warm: Path = args.out / f"warm-up-{args.regime}"
    if not (warm / "result.json").exists():
        _say(f"{warm}: a run to learn from")
        jobs, seconds = int(LONGER * args.jobs), LONGER * args.seconds
        schedule = plan(WARM_UP, args.regime, jobs=jobs, seconds=seconds, most=2)
        run_arm(schedule, lambda _: habits(Random(WARM_UP)), warm)
    folder = warm / name
    if not folder.exists():
        _say(f"{folder}: training")
        {"rates": _train_rates, "jobsight": _train_all}[name](warm / "EventLog", folder)
    return str(folder)


def _policy(arm: str, args: argparse.Namespace) -> Callable[[Path], Policy]:
    """What gives the policy of an arm from the event log of its pool."""
    simple: dict[str, Callable[[Path], Policy]] = {
        "nothing": lambda _: always_release(0),
        "people": lambda _: ask_people(),
        "release": lambda _: always_release(),
        "rules": partial(answers, model="none", rule_set="crab"),
        "policy": lambda _: answers_in_ads(),
    }
    if arm in simple:
        return simple[arm]
    return partial(answers, model=_model(arm, args))


def main(given: Sequence[str]) -> int:
    """Run; the exit status."""
    args = _arguments(given)
    try:
        for seed in args.seeds:
            schedule = plan(seed, args.regime, jobs=args.jobs, seconds=args.seconds)
            place = args.out / f"{args.regime}-{seed}"
            place.mkdir(parents=True, exist_ok=True)
            schedule.write(place / "truth.json")
            for arm in args.arms:
                if not (place / arm / "result.json").exists():
                    policy_of = _policy(arm, args)
                    acting = acting_with(_model("jobsight", args)) if arm == "policy" else None
                    _say(f"{place / arm}: at most {args.seconds / 60:.0f} minutes")
                    run_arm(schedule, policy_of, place / arm, acting)
    except (BedError, Unavailable) as error:
        sys.stderr.write(f"trial: {error}\n")
        return 1
    write_page(args.page, args.out, args.regime, args.arms)
    _say(f"wrote {args.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
