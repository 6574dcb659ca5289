"""``jobsight sweep best``: the answer; ``bestmodel.info`` has all the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jobsight.cli.common import JsonOption
from jobsight.cli.output import answer
from jobsight.cli.sweepopening import FileArgument, layout_of
from jobsight.cli.tables import table
from jobsight.format import UNKNOWN, number, short
from jobsight.learning.sweep.best import read_best
from jobsight.learning.sweep.layout import read_frozen
from jobsight.models import is_baseline
from jobsight.reports.scores import HEADINGS
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.learning.sweep.layout import Layout

__all__ = ["best", "show_best"]

_SCORES = ("log_loss", "roc_auc", "f1", "macro_f1")
_BASELINE = "the best baseline"


def best(file: FileArgument, as_json: JsonOption = False) -> None:
    """The best run: its parameters, its metrics, how it did in the test, where its model is."""
    show_best(layout_of(file), as_json=as_json)


def show_best(layout: Layout, *, as_json: bool) -> None:
    """Print the best run."""
    facts = read_best(layout)
    lines = _lines(facts, layout, read_frozen(layout.folder).config["model"])
    answer(facts, lambda: "\n".join(lines), as_json=as_json)


def _lines(facts: Mapping[str, Any], layout: Layout, network: str) -> Iterator[str]:
    """The best run, its test next to what matters, and where its model is.

    Args:
        facts: what `read_best` returned.
        layout: places of the sweep.
        network: name, in the test, of the model that the runs trained.
    """
    model, most = facts["model"], "highest" if facts["goal"] == "maximize" else "lowest"
    yield (
        f"run {facts['run']} of {sum(facts['runs'].values())}: {printable(facts['metric'], 30)} "
        f"{short(facts['value'])} on the validation block, the {most}"
    )
    point = facts["parameters"].items()
    text = ", ".join(f"{printable(key, 60)} {printable(short(one), 24)}" for key, one in point)
    yield f"  parameters  {text}"
    kept = f"; the weights kept are of epoch {facts['best_epoch']}" if facts["best_epoch"] else ""
    yield f"  epochs      {facts['epochs']}{kept}"
    looks = "once" if model["looks"] == 1 else f"{model['looks']} times"
    yield (
        f"test part: {counted(model['test_examples'], 'example')} in "
        f"{counted(model['test_batches'], 'batch', 'batches')}, looked at {looks}"
    )
    yield _test(model, network)
    yield f"model     {printable(layout.best_model)}"
    yield f"registry  {_registered(facts['registry'])}"
    yield f"all else  {printable(layout.best_info)}, or --json"


def _test(model: Mapping[str, Any], network: str) -> str:
    """The models that matter: which answers, what the runs trained, the best baseline."""
    test = model["test"]
    losses = {
        name: scores["log_loss"]
        for name, scores in test.items()
        if is_baseline(name) and scores.get("log_loss") is not None
    }
    roles = {model["chosen"]: ["which answers"]}
    roles.setdefault(network, []).append("the run's")
    if losses:
        roles.setdefault(min(losses, key=lambda name: losses[name]), []).append(_BASELINE)
    shown = [one for one in _SCORES if test.get(model["chosen"], {}).get(one) is not None]
    rows = [_row(name, said, test[name], shown) for name, said in roles.items() if name in test]
    gain = "log loss less the baseline's (95 %)"
    return table(["model", *(HEADINGS[one] for one in shown), gain], rows, [gain], indent=2)


def _row(name: str, roles: list[str], scores: Mapping[str, Any], shown: Sequence[str]) -> list[str]:
    gain = scores.get("log_loss_gain") or {}
    text = UNKNOWN
    if gain.get("value") is not None and roles[-1] != _BASELINE:
        text = number(gain["value"], signed=True)
        if gain.get("low") is not None and gain.get("high") is not None:
            text += f" ({gain['low']:+.3f} to {gain['high']:+.3f})"
    return [
        f"{printable(name, 30)}, {' and '.join(roles)}",
        *(number(scores.get(one)) for one in shown),
        text,
    ]


def _registered(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return "not yet; put it there with: jobsight sweep collect"
    role = "champion" if entry["champion"] else "challenger"
    cluster = printable(entry["cluster"], 60)
    return f"{entry['digest']}, {role} of cluster {cluster}, in {printable(entry['path'])}"
