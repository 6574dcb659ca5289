"""The end of a sweep: its best run found, tested once, kept in the registry, reported.

The plan's last nodes do this, and ``jobsight sweep collect``, by hand. Each step may be done again:
what is there already is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.cli.common import load_settings
from jobsight.cli.output import note, stages
from jobsight.errors import ModelError, SweepError
from jobsight.files import Kind, new_folder
from jobsight.learning.manifest import Source, read_manifest
from jobsight.learning.sweep.best import best_of, described, read_best, read_sources, write_best
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.records import RunRecord, read_all
from jobsight.text import counted

if TYPE_CHECKING:
    from jobsight.learning.modeldir import ModelDir
    from jobsight.learning.sweep.layout import Frozen, Layout

__all__ = ["find_best", "register_best"]


def find_best(frozen: Frozen, layout: Layout, *, again: bool = False) -> None:
    """Choose the best run, test its network once next to the baselines, write ``best/``.

    Args:
        frozen: the sweep.
        layout: its places.
        again: look at the test part although another network was tested before. A search that was
            extended looks again by itself: its user asked for more runs, and it is on record.

    Raises:
        SweepError: no run can be chosen. `UsageError`: another network was tested before.
    """
    records = read_all(layout.runs)
    found = best_of(records, *frozen.metric)
    kept = _kept(frozen, layout, found)
    model = kept or _finished(frozen, layout, found, again=again or frozen.first > 1)
    write_best(layout, described(frozen, records, found, read_sources(frozen, layout), model))
    note(f"the best of {counted(frozen.runs, 'run')} is run {found.run}")


def _kept(frozen: Frozen, layout: Layout, found: RunRecord) -> dict[str, Any] | None:
    """What was said of the model of this very run, where it was tested before and is whole."""
    try:
        facts = read_best(layout)
        digest = read_manifest(layout.best_model, question=frozen.question).digest
    except (SweepError, ModelError):
        return None
    same = (facts["sweep"], facts["run"], facts["model"]["digest"])
    return dict(facts["model"]) if same == (frozen.digest, found.run, digest) else None


def _finished(frozen: Frozen, layout: Layout, found: RunRecord, *, again: bool) -> dict[str, Any]:
    """Train the other models next to the best run's network, test, and save the model directory."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from jobsight.cli.reading import cluster_of
    from jobsight.learning.sweep.finish import finish_sweep, looks
    from jobsight.learning.sweep.parsing import join_shards

    config = SweepConfig.model_validate(frozen.config)
    history = join_shards(frozen, layout)
    record = layout.best / "looks.json"
    # Sums are made in one order then, however many cores there are.
    with stages() as progress, threadpool_limits(1):
        trained = finish_sweep(
            history,
            config,
            parameters=found.parameters,
            network=found.folder / "model",
            record=record,
            sources=[Source(**one) for one in read_sources(frozen, layout)],
            again=again,
            progress=progress,
        )
    place = layout.best_model
    with new_folder(place, Kind.MODEL, private=False) as folder:
        trained.model.save(folder, seed=frozen.seed, facts=trained.facts())
    cluster = config.cluster or cluster_of(history)
    return {
        **_described(trained.model),
        "path": place.relative_to(layout.folder).as_posix(),
        "cluster": cluster,
        "looks": len(looks(record)),
    }


def _described(model: ModelDir) -> dict[str, Any]:
    """What ``bestmodel.info`` says of a model directory that was saved."""
    assert model.manifest is not None
    return {
        "digest": model.manifest.digest,
        "chosen": model.chosen,
        "reason": model.main.reason,
        "test": {
            # The rest, by row, is in ``best/model/report.json``.
            name: {key: value for key, value in scores.items() if key != "by_row"}
            for name, scores in model.main.report["models"].items()
        },
        "loss": model.main.report["loss"],
        "test_examples": model.main.report["examples"],
        "test_batches": model.main.report["batches"],
    }


def register_best(frozen: Frozen, layout: Layout) -> None:
    """Put the best model into the registry that was set at planning, and write the report.

    Raises:
        ModelError: the model is damaged, or its report lacks the baselines.
        OutputError: the registry or the report cannot be written.
    """
    from jobsight.learning.registry import Registry
    from jobsight.reports.sweep.report import write_report

    facts = read_best(layout)
    named = frozen.settings.get("registry")
    registry = Registry(Path(named) if named else load_settings(None, {}).registry)
    cluster = facts["model"]["cluster"]
    digest = registry.put(
        layout.best_model,
        frozen.question,
        cluster,
        why=f"best of {counted(frozen.runs, 'run')}, run {facts['run']} of sweep {frozen.digest}",
    )
    champion = registry.champion(frozen.question, cluster)
    entry = {
        "path": str(registry.path),
        "cluster": cluster,
        "digest": digest,
        "champion": champion is not None and champion.digest == digest,
    }
    write_best(layout, {**facts, "registry": entry})
    write_report(layout.folder, layout.report)
    note(f"the registry has it as {digest}, {'champion' if entry['champion'] else 'challenger'}")
