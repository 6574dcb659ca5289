"""What reports say of the scores of models, and how they show what answers would have got."""

from collections.abc import Mapping
from typing import Any

from jobsight.format import UNKNOWN, amount, interval, number, percent
from jobsight.learning.registry import best_baseline
from jobsight.text import printable

__all__ = ["HEADINGS", "answer_rows", "savings_rows", "verdict"]

HEADINGS = {
    "roc_auc": "ROC AUC",
    "average_precision": "avg. prec.",
    "f1": "F1",
    "f1_failure": "F1 of the rest",
    "brier": "Brier",
    "ece": "ECE",
    "log_loss": "log loss",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "pinball": "pinball loss",
    "median_error": "error of median",
    "coverage_80": "80 % coverage",
    "log10_mse": "log10 MSE",
    "within_2": "within 2",
    "within_3": "within 3",
    "width": "width",
    "divergence": "divergence",
    "distance": "distance",
}
"""Headings of metrics, by name."""

_LEAST = 20
"""Batches that a week must have to be named the weakest."""

_PER_DECISION = {
    "finished": ("finished", 100),
    "wasted": ("wasted", 100),
    "wasted_seconds": ("seconds wasted", 1),
    "lost": ("lost", 100),
    "delay_seconds": ("delay (s)", 1),
    "gain": ("gain", 1),
}


def verdict(report: Mapping[str, Any]) -> str:
    """Whether the model that answers is any good, in one sentence with its weakest week.

    Its loss is compared with that of the best baseline on the same decisions, in all and by week.
    `report` is `jobsight.learning.evaluation.Evaluation.to_json`, or that of a saved model.
    """
    chosen, loss, models = report["chosen"], report["loss"], report["models"]
    best = best_baseline(dict(report))["name"] or chosen
    gain = models[chosen].get(f"{loss}_gain") or {"low": None, "high": None}
    judged = f"is not surely better than {best}, the best baseline"
    if best == chosen:
        judged = "is the best baseline"
    elif gain["high"] is not None and gain["high"] < 0:
        judged = judged.replace("not surely", "surely")
    elif gain["low"] is not None and gain["low"] > 0:
        judged = judged.replace("not surely better", "surely worse")

    def against(losses: Mapping[str, float]) -> str:
        return " against ".join(number(losses[name]) for name in dict.fromkeys((chosen, best)))

    text = f"The model that answers, {chosen}, {judged}: {HEADINGS[loss]} "
    text += against({name: scores[loss] for name, scores in models.items()})
    parts = [part for part in report.get("over_time", ()) if part["batches"] >= _LEAST]
    if len(parts) > 1:
        # By how much its loss is that of the baseline; where that answers, by its loss.
        weakest = max(parts, key=lambda part: part["loss"][chosen] / (
            1.0 if best == chosen else part["loss"][best] or 1e-9))  # fmt: skip
        text += f"; in its weakest {weakest['span']}, from {weakest['from']}, "
        text += against(weakest["loss"])
    return printable(f"{text} (less is better).")


def answer_rows(scored: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of a table of `Question.answered`: one way to decide per row."""
    headings = ["", "release", "wait", *(name for name, _ in _PER_DECISION.values())]
    rows = []
    for name, one in scored.items():
        verbs = [percent(one["verbs"].get(verb, 0.0)) for verb in ("release", "wait")]
        means = [_span(one[key], times) for key, (_, times) in _PER_DECISION.items()]
        wide = [_interval(one["gain"][key]) for key in ("interval", "interval_by_time")]
        rows.append([name, *verbs, *means, *wide])
    return [*headings, "95 % by batch", "95 % by time"], rows


def savings_rows(view: Mapping[str, Any]) -> list[list[str]]:
    """Rows of a table of what acting on predictions saves: one threshold per row.

    How many are acted on, the share of them that is right, those disturbed and the core-hours
    saved, each with its interval, and the share of all core-hours.
    """
    rows = []
    for row in view["thresholds"]:
        disturbed, saved = row["disturbed"], row["saved"]
        low, high = amount(saved["low"]), amount(saved["high"])
        rows.append([
            f"{row['threshold']:g}", number(row["acted"]["value"], 0),
            percent(row["right"]["value"]), number(disturbed["value"], 0),
            interval(disturbed["low"], disturbed["high"], 0), amount(saved["value"]),
            UNKNOWN if saved["low"] is None else f"{low}–{high}",
            percent(row["saved_share"]["value"]),
        ])  # fmt: skip
    return rows


def _span(bounds: Mapping[str, Any], times: int) -> str:
    """Both bounds, in percent for shares, or one number where they are the same."""
    digits = 0 if times == 100 else 2
    low, high = (f"{times * bounds[end]:.{digits}f}" for end in ("low", "high"))
    words = low if low == high else f"{low} to {high}"
    return f"{words} %" if times == 100 else words


def _interval(bounds: list[float | None]) -> str:
    low, high = bounds
    return UNKNOWN if low is None or high is None else f"{low:.2f} to {high:.2f}"
