"""What a log shows of held jobs: why they are held, whose they are, and what releases wasted."""

import numpy as np
import polars as pl

from jobsight.format import percent
from jobsight.history.labels import label_rows
from jobsight.history.timelines import History
from jobsight.questions.hold.examples.decisions import CAUSE, hold_decisions
from jobsight.questions.hold.settings import HoldSettings
from jobsight.reports.overview import Overview, ranking
from jobsight.text import counted, printable

__all__ = ["overview"]


def overview(history: History, settings: HoldSettings) -> Overview:
    """Holds by cause and by owner; those by a user's own hand, or of a second log, do not count."""
    labels = label_rows(history)
    own = labels.first[history.job] == history.job
    releases = hold_decisions(history, settings, labels).table
    rows = np.flatnonzero(history.held & ~labels.by_hand & (history.job >= 0) & own)
    # Of vacates those after which the job ran again.
    rows = np.union1d(rows, releases["hold_row"].to_numpy())
    wasted = releases.filter(~pl.col("outcome").cast(pl.Boolean))["hold_row"].to_numpy()
    columns = [history.table[name] for name in ("hold_code", "hold_subcode")]
    holds = pl.DataFrame([*columns, labels.masked.alias("masked")])[rows].with_columns(
        history.jobs["owner"].gather(history.job[rows]),
        CAUSE.alias("cause"),
        job=history.job[rows],
        time=history.clock[rows],
        cost=np.isin(rows, wasted).astype(np.int64),
    )
    jobs = pl.col("job").n_unique()
    causes, owners = (
        ranking(holds, "holds", {by: by}, "runs wasted", jobs=jobs) for by in ("cause", "owner")
    )
    held, known = holds["job"].n_unique(), len(history.jobs)
    points = [
        f"{held:,} of {counted(known, 'job')} ({percent(held / max(known, 1))}) were held, "
        f"{counted(len(holds), 'time')} in all.",
        f"Of {counted(len(releases), 'release')} {len(wasted):,} failed again: wasted runs.",
    ]
    points += [
        f"The {what} that wasted most is {printable(row[what], 90)}: "
        f"{counted(row['runs wasted'], 'run')} after {counted(row['holds'], 'hold')} of "
        f"{counted(row['jobs'], 'job')}, {row['when']}."
        for what, rows_of in (("cause", causes), ("owner", owners))
        for row in rows_of[:1]
    ]
    return Overview(points, {"What holds jobs most": causes, "Whose jobs are held most": owners})
