"""The study of 2024 that this project grew from, and where its "near-perfect accuracy" comes from.

It took the first hold of each job, labelled it by whether the job ever terminated, split jobs at
random, and trained an LSTM on frames that end when the job has left the queue. ``python
examples/seed_study.py data/pool-a.log.gz`` trains that, then removes one after the other what
is unknown at the release, and prints the scores next to those of ``jobsight train hold``.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import polars as pl

from jobsight import models
from jobsight.history.events import read_events
from jobsight.history.frames import FrameIndex, Frames, build_frames
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.learning import metrics
from jobsight.learning.dataset import PARTS, Dataset, split_random
from jobsight.learning.targets import BinaryCalibrated
from jobsight.learning.train import train
from jobsight.models.base import Floats, Inputs, Labelled, held_back
from jobsight.questions.hold.question import HOLD
from jobsight.questions.hold.settings import HoldSettings

TERMINATED, REMOVED, HELD, AD = 5, 9, 12, 28
FRAMES_PER_LIFE = 8
"""Frames in the median time from the first hold to the end, as `Scale` has them."""


def first_holds(history: History) -> pl.DataFrame:
    """The first hold of each held job that left the queue, in time order.

    Returns:
        What `build_frames` reads, as of the hold, with `left_row`, `left` (µs) and `terminated`.
    """
    columns = {"job": history.job, "log": history.log, "time": history.clock, "code": history.code}
    events = pl.DataFrame(columns).with_row_index("row").cast({"row": pl.Int64})
    events = events.with_columns(its_ad=(pl.col("code").shift(-1) == AD).fill_null(value=False))
    left = events.filter(pl.col("code").is_in([TERMINATED, REMOVED])).select(
        "job", left_row="row", left="time", terminated=pl.col("code") == TERMINATED
    )
    return (
        events.filter(pl.col("code") == HELD, pl.col("job") >= 0)
        .unique("job", keep="first", maintain_order=True)
        .join(left, on="job")
        .filter(pl.col("left_row") > pl.col("row"))
        .sort("time", "log", "row", "left_row")
        .unique("job", keep="first", maintain_order=True)
        .with_columns(hold_row="row", cut=pl.col("row") + 1 + pl.col("its_ad"))
    )


class Study:
    """The study's examples of one history: frames, and whether the job ever terminated."""

    def __init__(self, history: History, settings: HoldSettings) -> None:
        self.settings = settings
        self.table = first_holds(history)
        states = settings.frames.state_events
        self._index = FrameIndex(history, label_rows(history), states)
        spans = self.table["left"] - self.table["time"]
        self._timeframe = max(int(np.median(spans.to_numpy())) // FRAMES_PER_LIFE, 1)
        self.tests = (
            split_random(
                np.arange(len(self.table)), test=settings.test_share, seed=settings.seed
            ).part
            == 1
        )

    def parts(self, *, whole_life: bool) -> list[Labelled]:
        """Train and test."""
        labelled = self.labelled(self.table, whole_life=whole_life)
        return [labelled.take(~self.tests), labelled.take(self.tests)]

    def before(self, moment: int) -> Labelled:
        """All jobs that left the queue before `moment` (µs)."""
        known = pl.col("left").dt.epoch("us") < moment
        return self.labelled(self.table.filter(known), whole_life=True)

    def labelled(self, table: pl.DataFrame, *, whole_life: bool) -> Labelled:
        """Examples whose frames end when the job has left the queue, or at its first hold."""
        if whole_life:
            table = table.with_columns(cut=pl.col("left_row") + 1, time="left")
        chosen = self.settings.frames
        frames, _ = build_frames(
            self._index,
            table,
            m=chosen.m,
            j=chosen.j,
            timeframe=self._timeframe,
            related_share=chosen.related_share,
            seed=self.settings.seed,
        )
        inputs = frames_only(frames, self.settings)
        return Labelled(inputs, table["terminated"].to_numpy(), np.ones(len(table)))


def frames_only(frames: Frames | None, settings: HoldSettings) -> Inputs:
    """Inputs of frames alone: no features, no causes."""
    assert frames is not None
    features = np.zeros((len(frames), 0), np.float32)
    return Inputs(features, (), {}, {}, frames, len(settings.frames.state_events))


def ask_network(terms: str, taught: Labelled, test: Labelled, given: HoldSettings) -> None:
    """Fit the study's network, and show how it does on `test`."""
    network = models.create("lstm", lstm=given.lstm.model_copy(update={"network": "lstm-flat"}))
    network.fit(taught, seed=given.seed)
    _, later = held_back(taught)
    said = network.predict(later.inputs)
    threshold = metrics.best_threshold(said, later.success, later.weight)
    show(terms, network.predict(test.inputs), test, threshold)


def show(terms: str, predicted: Floats, test: Labelled, threshold: float) -> None:
    """Print one row of scores; batches of releases have weight 1."""
    asked = predicted, test.success, test.weight
    right = np.average((predicted >= threshold) == test.success, weights=test.weight)
    base = np.average(test.success, weights=test.weight)
    auc = metrics.roc_auc(*asked)
    f1 = metrics.metric_named("f1", threshold=threshold)(*asked)
    print(f"{terms:<48}{len(test):>6}{base:>10.3f}{right:>10.3f}{auc:>9.3f}{f1:>11.3f}")


def main(log: str) -> None:
    """Train and score all on one log."""
    history, settings = History.from_table(read_events([log]).table), HoldSettings()
    study, trained = Study(history, settings), train(Dataset.for_training(HOLD, history, settings))
    ours = [trained.main.parts[name][1] for name in PARTS]
    theirs = [replace(one, inputs=frames_only(one.inputs.frames, settings)) for one in ours]
    print(f"{'':<48}{'tests':>6}{'succeed':>10}{'accuracy':>10}{'ROC AUC':>9}{'F-measure':>11}")
    life, hold = study.parts(whole_life=True), study.parts(whole_life=False)
    ask_network("the study: frames to the end, random split", life[0], life[1], settings)
    ask_network("the same, frames to the first hold", hold[0], hold[1], settings)
    before = study.before(int(trained.model.borders[1]))
    ask_network(
        "the study's network, tested on Jobsight's test releases", before, theirs[1], settings
    )
    ask_network(
        "its network with Jobsight's releases, outcomes and split", theirs[0], theirs[1], settings
    )
    model, predictions = trained.model, trained.main.evaluation.predictions
    answering, answers = predictions[model.chosen], model.answering.calibrated
    assert isinstance(answers, BinaryCalibrated)
    show(f"jobsight train hold ({model.chosen})", answering, ours[1], answers.threshold)


if __name__ == "__main__":
    main(sys.argv[1])
