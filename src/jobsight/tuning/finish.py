"""The end of a sweep: its best parameters, trained with all other models, tested once, registered.

A run is trained on a part of the history, to be measured on the rest; the model that answers is
trained with its parameters on all that is before the test. The test part can be used once: before
it is, a record of that is written, and testing other parameters afterwards, chosen maybe because of
what was seen, is refused. Each step may be done again: what is there already is kept.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobsight.clock import now_micros
from jobsight.errors import ModelError, SweepError, UsageError
from jobsight.files import Kind, new_file, new_folder, write_json
from jobsight.format import moment
from jobsight.learning.dataset import Dataset
from jobsight.learning.manifest import read_manifest
from jobsight.learning.reading import cluster_of
from jobsight.learning.registry import DEFAULT, Registry
from jobsight.learning.train import train
from jobsight.settings import QuestionSettings
from jobsight.text import printable
from jobsight.tuning.folder import Sweep, digest_of, kept_sources, read_source, saved
from jobsight.tuning.record import started_runs
from jobsight.tuning.space import with_parameters
from jobsight.tuning.study import Runs

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from jobsight.learning.modeldir import ModelDir

__all__ = ["bring_in", "find_best", "is_done", "read_best", "register_best", "write_report"]

SCHEMA = "jobsight.best/2"
_ORDER = (
    *("run", "metric", "goal", "value", "parameters", "epochs", "best_epoch", "seed", "seconds"),
    *("validation", "model", "registry", "question", "sweep", "runs", "versions"),
)
"""Keys as people look for them: what was best, then how good it is, then where it comes from."""


def bring_in(folder: Path) -> Runs:
    """The runs of a sweep, with all that its runs' folders have recorded."""
    runs = Runs.open(folder)
    unfinished = set(runs.unfinished())
    for record in started_runs(folder):
        if record.run in unfinished:
            runs.bring_in(record)
    return runs


def find_best(
    sweep: Sweep, *, again: bool = False, progress: Callable[[str], None] = lambda _step: None
) -> int:
    """Choose the best run, train and test its parameters once, write ``best/``; the run.

    Args:
        sweep: in whose folder all runs recorded.
        again: use the test part although other parameters were tested before.
        progress: is called with what is being done.

    Raises:
        SweepError: no run can be chosen. UsageError: other parameters were tested before.
        TrainingError: there is too little to judge a model by.
    """
    runs = bring_in(sweep.folder)
    best = runs.best()
    model = _kept(sweep, best) or _tested(sweep, best, again=again, progress=progress)
    config, attributes = sweep.config, best.user_attrs
    sources = kept_sources(sweep.folder)
    facts = {
        "schema": SCHEMA,
        "sweep": sweep.digest,
        "question": config.question,
        "run": best.number + 1,
        "metric": config.metric.name,
        "goal": config.metric.goal,
        "value": best.value,
        "parameters": dict(best.params),
        "epochs": len(attributes["epochs"]),
        "best_epoch": attributes["best_epoch"],
        "seed": config.seed,
        "seconds": attributes["seconds"],
        "validation": attributes["metrics"],
        "runs": _counts(runs),
        "data": {
            "sha256": digest_of([one.sha256 for one in sources]),
            "sources": [asdict(one) for one in sources],
        },
        "model": model,
        "registry": None,
        "versions": sweep.planned.versions,
    }
    _write(sweep, facts)
    return best.number + 1


def register_best(sweep: Sweep) -> dict[str, Any]:
    """Put the best model into the registry that was set at planning, and write the report.

    Returns:
        what is known of the best run, as `read_best` reads it.

    Raises:
        SweepError: there is no best run. ModelError: the model is damaged.
        OutputError: the registry or the report cannot be written.
    """
    facts = read_best(sweep)
    question, cluster = sweep.config.question, facts["model"]["cluster"]
    registry = Registry(Path(sweep.planned.registry))
    why = f"best of {sweep.config.runs} runs, run {facts['run']} of sweep {sweep.digest}"
    digest = registry.put(sweep.best / "model", question, cluster, why=why)
    champion = registry.champion(question, cluster)
    facts["registry"] = {
        "path": str(registry.path),
        "cluster": cluster,
        "digest": digest,
        "champion": champion is not None and champion.digest == digest,
    }
    _write(sweep, facts)
    write_report(sweep, sweep.report)
    return facts


def write_report(sweep: Sweep, output: Path, kind: Kind | None = None) -> None:
    """Write the report of a sweep, however far it is, as one HTML page.

    Raises:
        OutputError: it cannot be written, or something else is there.
    """
    from jobsight.tuning.report import report_html
    from jobsight.tuning.sweepdata import read_facts

    config = sweep.config
    facts = read_facts(
        sweep.folder,
        metric=config.metric.name,
        question=config.question,
        network=config.trained,
    )
    page = report_html(bring_in(sweep.folder).study, facts)
    with new_file(output, kind) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _counts(runs: Runs) -> dict[str, int]:
    """How many runs are in which state."""
    return dict(sorted(Counter(one.state.name.lower() for one in runs.trials()).items()))


def is_done(sweep: Sweep, runs: Runs) -> bool:
    """Whether the best of all runs, as they are now, was found, tested, registered, reported."""
    try:
        facts = read_best(sweep)
    except SweepError:
        return False
    current = (facts.get("sweep"), facts.get("runs")) == (sweep.digest, _counts(runs))
    return current and facts.get("registry") is not None and sweep.report.exists()


def read_best(sweep: Sweep) -> dict[str, Any]:
    """What is known of the best run.

    Raises:
        SweepError: there is no best run yet, or the file is damaged.
    """
    path = sweep.best / "bestmodel.json"
    missing = (
        f"{sweep.folder} has no best run yet; `jobsight sweep status` shows how far it is, "
        "`jobsight sweep collect` finishes what ended"
    )
    facts = saved(path, missing)
    if facts.get("schema") != SCHEMA:
        raise SweepError(f"{path} is damaged, or of another version; `jobsight sweep collect`")
    return facts


def _kept(sweep: Sweep, best: FrozenTrial) -> dict[str, Any] | None:
    """What is known of the model of this very run, where it was tested before and is whole."""
    try:
        facts = read_best(sweep)
        digest = read_manifest(sweep.best / "model", question=sweep.config.question).digest
    except (SweepError, ModelError):
        return None
    same = (facts["sweep"], facts["run"], facts["model"]["digest"])
    return dict(facts["model"]) if same == (sweep.digest, best.number + 1, digest) else None


def _tested(
    sweep: Sweep, best: FrozenTrial, *, again: bool, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Train all models with the parameters of the best run, test them, save the model directory."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    config, fixed = sweep.config, sweep.config.fixed_settings
    settings = _anywhere(with_parameters(config.asked, fixed, best.params))
    source = read_source(sweep.folder, config.question)
    data = Dataset.for_training(config.asked, source, settings)
    looks = _note_look(sweep, best, again=again)
    # Sums are made in one order then, however many cores there are.
    with threadpool_limits(1):
        trained = train(
            data,
            required=config.trained,
            sources=kept_sources(sweep.folder),
            progress=progress,
        )
    place = sweep.best / "model"
    with new_folder(place, Kind.MODEL, private=False) as folder:
        trained.model.save(folder, seed=config.seed, facts=trained.facts())
    return {
        **_described(trained.model),
        "path": place.relative_to(sweep.folder).as_posix(),
        "cluster": config.cluster or cluster_of(source) or DEFAULT,
        "looks": looks,
    }


def _anywhere(settings: QuestionSettings) -> QuestionSettings:
    """The settings without the need of a GPU, which the machine that finishes a sweep may lack."""
    lstm = getattr(settings, "lstm", None)
    if lstm is None or lstm.device == "cpu":
        return settings
    lstm = lstm.model_copy(update={"device": "auto"})
    return settings.model_copy(update={"lstm": lstm})


def _described(model: ModelDir) -> dict[str, Any]:
    """What ``bestmodel.info`` says of a model directory that was saved."""
    assert model.manifest is not None
    report = model.main.report
    return {
        "digest": model.manifest.digest,
        "chosen": model.chosen,
        "reason": model.main.reason,
        "test": {
            # The rest, by row, is in ``best/model/report.json``.
            name: {key: value for key, value in scores.items() if key != "by_row"}
            for name, scores in report["models"].items()
        },
        "loss": report["loss"],
        "test_examples": report["examples"],
        "test_batches": report["batches"],
    }


def _note_look(sweep: Sweep, best: FrozenTrial, *, again: bool) -> int:
    """Record that the test part is used now, unless it was with these very parameters.

    Returns:
        how often it was used.
    """
    path = sweep.best / "looks.json"
    looks = saved(path, "")["looks"] if path.exists() else []
    point = digest_of([sweep.digest, dict(best.params)])
    if any(look["point"] == point for look in looks):
        return len(looks)
    if looks and not again:
        last = looks[-1]
        raise UsageError(
            f"the test part was used with the parameters of run {last['run']} already "
            f"({moment(last['time'])}); testing others now would make the better of two "
            "results pass for one. If that must be, add --again, and it will be recorded"
        )
    sweep.best.mkdir(exist_ok=True)
    look = {"point": point, "run": best.number + 1, "time": now_micros()}
    write_json(path, {"looks": [*looks, look]})
    return len(looks) + 1


def _write(sweep: Sweep, facts: Mapping[str, Any]) -> None:
    """Write ``bestmodel.json`` and, last, ``bestmodel.info``: lines of ``key = JSON``."""
    write_json(sweep.best / "bestmodel.json", facts)
    plain = {key: facts[key] for key in _ORDER} | {"data": {"sha256": facts["data"]["sha256"]}}
    lines = [f"{key} = {_json(value)}" for key, value in _flat(plain)]
    names = [_json(item["name"]) for item in facts["data"]["sources"]]
    lines += [f"data.source.{number} = {name}" for number, name in enumerate(names, start=1)]
    with new_file(sweep.best / "bestmodel.info") as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _json(value: Any) -> str:
    return "null" if isinstance(value, float) and not math.isfinite(value) else json.dumps(value)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mappings as names joined by dots."""
    if not isinstance(value, Mapping):
        yield name, value
        return
    for key, item in value.items() if not name else sorted(value.items()):
        clean = printable(key, 80).replace("=", "_")
        yield from _flat(item, f"{name}.{clean}" if name else clean)
