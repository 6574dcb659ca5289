from typing import Any

import pytest

from jobsight.reports.scores import verdict


def report(chosen: str, low: float | None, high: float | None, **more: Any) -> dict[str, Any]:
    gain = {"value": 0.0, "low": low, "high": high}
    models = {
        "constant": {"log_loss": 0.5},
        "last": {"log_loss": 0.4},
        "linear": {"log_loss": 0.3, "log_loss_gain": gain},
    }
    return {"chosen": chosen, "loss": "log_loss", "models": models, **more}


def week(begin: str, own: float, last: float, batches: float = 100.0) -> dict[str, Any]:
    loss = {"linear": own, "last": last}
    return {"span": "week", "from": begin, "batches": batches, "loss": loss}


@pytest.mark.parametrize(
    ("low", "high", "judged"),
    [(-0.2, -0.1, "surely better"), (-0.2, 0.1, "not surely better"), (0.1, 0.2, "surely worse"),
     (None, None, "not surely better")],
)  # fmt: skip
def test_the_model_is_compared_with_the_best_baseline(
    low: float | None, high: float | None, judged: str
) -> None:
    assert verdict(report("linear", low, high)) == (
        f"The model that answers, linear, is {judged} than last, the best baseline: "
        "log loss 0.300 against 0.400 (less is better)."
    )


def test_the_weakest_week_is_where_it_gains_least() -> None:
    weeks = [
        week("2026-03-02", 0.2, 0.4),
        week("2026-03-09", 0.39, 0.4),
        week("2026-03-16", 0.6, 1),
    ]
    weeks.append(week("2026-03-23", 9.0, 0.1, batches=19))  # too few to say anything
    assert "; in its weakest week, from 2026-03-09, 0.390 against 0.400 (" in verdict(
        report("linear", -0.2, -0.1, over_time=weeks)
    )
    assert "weakest" not in verdict(report("linear", -0.2, -0.1, over_time=weeks[-1:]))


def test_a_baseline_that_answers_is_called_one() -> None:
    weeks = [week("2026-03-02", 0.2, 0.4), week("2026-03-09", 0.3, 0.45)]
    assert verdict(report("last", None, None, over_time=weeks)) == (
        "The model that answers, last, is the best baseline: log loss 0.400; in its weakest week, "
        "from 2026-03-09, 0.450 (less is better)."
    )
