"""Runs of a sweep sent to Weights & Biases, by their records.

Nothing is sent while runs train: jobs run on other people's machines, where no key should be. What
is sent is what the records have: no code, no git state, no host name, command line, installed
packages or machine data.
"""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Iterable
from typing import Any

from jobsight.errors import SweepError, UsageError
from jobsight.learning.sweep.runrecord import RunRecord
from jobsight.text import printable

__all__ = ["FOLDER", "send_runs"]

FOLDER = "wandb"
"""In a run's folder: what the SDK writes; a run that has it was sent."""


def send_runs(
    records: Iterable[RunRecord],
    digest: str,
    *,
    project: str,
    entity: str | None = None,
    offline: bool = False,
) -> list[int]:
    """Send the runs that ended and were not sent before; their numbers.

    Args:
        records: of the sweep's runs.
        digest: of the sweep: runs are grouped by it, and named by it and their numbers.
        project: of W&B.
        entity: user or team there; None: the key's own.
        offline: write files that ``wandb sync`` sends, without any network.

    Raises:
        UsageError: the SDK is not installed.
        SweepError: the server cannot be reached or refuses; the runs before were sent.
    """
    if importlib.util.find_spec("wandb") is None:
        raise UsageError("Weights & Biases needs its SDK: pip install 'jobsight[sweep]'")
    import wandb

    sent = []
    for record in records:
        if record.run is None or not record.status.ended or (record.folder / FOLDER).exists():
            continue
        settings = wandb.Settings(
            mode="offline" if offline else "online",
            root_dir=str(record.folder),
            project=project,
            entity=entity,
            run_id=f"{digest}-{record.run:04d}",
            run_name=f"{digest}-{record.run:04d}",
            run_group=digest,
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
        )
        try:
            _send(record, settings)
        except (wandb.Error, OSError) as error:
            shutil.rmtree(record.folder / FOLDER, ignore_errors=True)
            raise SweepError(
                f"Weights & Biases, run {record.run}: {printable(error, 200)}; check the network, "
                "WANDB_BASE_URL and the key, or write files with --offline"
            ) from None
        sent.append(record.run)
    return sent


def _send(record: RunRecord, settings: Any) -> None:
    import wandb

    config = {"run": record.run, "seed": record.seed, **record.parameters}
    with wandb.init(config=config, settings=settings) as run:
        run.define_metric("epoch")
        run.define_metric("*", step_metric="epoch")
        for row, epoch in enumerate(record.epochs.number.tolist()):
            values = {name: float(column[row]) for name, column in record.epochs.columns.items()}
            known = {name: value for name, value in values.items() if math.isfinite(value)}
            run.log({"epoch": epoch, **known}, step=epoch)
        kept = {f"kept.{name}": one for name, one in record.metrics.items() if math.isfinite(one)}
        facts = {"status": record.status.value, "cause": record.cause}
        run.summary.update({**facts, "best_epoch": record.best_epoch, **kept})
