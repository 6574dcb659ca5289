"""What ``jobsight sweep best`` prints: the answer; ``bestmodel.info`` has all the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jobsight.cli.common import JsonOption
from jobsight.cli.output import print_json, say
from jobsight.cli.sweepopening import FileArgument, layout_of, number
from jobsight.cli.terminal import Column, grid, width
from jobsight.learning.sweep.best import read_best
from jobsight.learning.sweep.layout import read_frozen
from jobsight.models import is_baseline
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Layout

__all__ = ["best", "best_lines", "show_best"]

_SCORES = {"log_loss": "log loss", "roc_auc": "ROC AUC", "f1": "F-measure"}
_BASELINE = "the best baseline"


def best_lines(facts: Mapping[str, Any], layout: Layout, network: str) -> Iterator[str]:
    """The best run, its test beside what matters, and where its model is.

    Args:
        facts: what `read_best` gave.
        layout: places of the sweep.
        network: name, in the test, of the model that the runs trained.
    """
    metric = f"{printable(facts['metric'], 30)} {number(facts['value'])}"
    most = "highest" if facts["goal"] == "maximize" else "lowest"
    runs = sum(facts["runs"].values())
    yield f"run {facts['run']} of {runs}: {metric} on the select part, the {most}"
    point = (f"{printable(key, 60)} {number(value)}" for key, value in facts["parameters"].items())
    yield f"  parameters  {', '.join(point)}"
    kept = f"; the weights kept are of epoch {facts['best_epoch']}" if facts["best_epoch"] else ""
    yield f"  epochs      {facts['epochs']}{kept}"
    yield from _test(facts["model"], network)
    yield f"model     {printable(layout.best_model)}"
    yield f"registry  {_registered(facts['registry'])}"
    yield f"all else  {printable(layout.best_info)}, or --json"


def _test(model: Mapping[str, Any], network: str) -> Iterator[str]:
    """The models that matter: which answers, what the runs trained, the best baseline."""
    test, chosen = model["test"], model["chosen"]
    losses = {name: told.get("log_loss") for name, told in test.items() if is_baseline(name)}
    known = {name: loss for name, loss in losses.items() if loss is not None}
    baseline = min(known, key=lambda name: known[name], default=None)
    roles = {chosen: ["which answers"]}
    roles.setdefault(network, []).append("the run's")
    if baseline is not None:
        roles.setdefault(baseline, []).append(_BASELINE)
    rows = [_row(name, said, test[name]) for name, said in roles.items() if name in test]
    columns = [Column("model"), *(Column(one, right=True) for one in _SCORES.values())]
    columns.append(Column("log loss less the baseline's (95 %)", spare=1))
    yield (
        f"test part: {counted(model['test_examples'], 'example')} in "
        f"{counted(model['test_batches'], 'batch', 'batches')}, looked at "
        f"{'once' if model['looks'] == 1 else str(model['looks']) + ' times'}"
    )
    yield from (f"  {line}" for line in grid(columns, rows, most=_room()))


def _room() -> int | None:
    whole = width()
    return None if whole is None else max(whole - 2, 20)


def _row(name: str, roles: list[str], told: Mapping[str, Any]) -> list[str]:
    scores = (told.get(one) for one in _SCORES)
    gain = told.get("log_loss_gain") or {}
    low, high = gain.get("low"), gain.get("high")
    interval = f" ({low:+.3f} to {high:+.3f})" if low is not None and high is not None else ""
    known = gain.get("value") is not None and roles[-1] != _BASELINE
    return [
        f"{printable(name, 30)}, {' and '.join(roles)}",
        *("–" if one is None else f"{one:.3f}" for one in scores),
        f"{gain['value']:+.3f}{interval}" if known else "–",
    ]


def _registered(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return "not yet; it is put there by: jobsight sweep collect"
    role = "champion" if entry["champion"] else "challenger"
    cluster = printable(entry["cluster"], 60)
    return f"{entry['digest']}, {role} of cluster {cluster}, in {printable(entry['path'])}"


def best(file: FileArgument, as_json: JsonOption = False) -> None:
    """The best run: its parameters, its metrics, how it did in the test, where its model is."""
    show_best(layout_of(file), as_json=as_json)


def show_best(layout: Layout, *, as_json: bool) -> None:
    """Print the best run."""
    facts = read_best(layout)
    if as_json:
        print_json(facts)
        return
    for line in best_lines(facts, layout, read_frozen(layout.folder).config["model"]):
        say(line)
