import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial
from tests.unit.tuning.studies import SPACE, TEST, sweep_study

from jobsight.tuning.report import MOST_ROWS, report_html
from jobsight.tuning.sweepdata import Examination, SweepData, SweepFacts, read_facts

FACTS = SweepFacts("night", "f1", test=Examination(TEST))
HOSTILE = "</td></table><script>alert(1)</script>&amp;\x00\x1b[31m$x^2$"


class Page(HTMLParser):
    """Counts elements, collects the words of pictures, and the targets of links within the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.pictures: list[str] = []
        self.links: set[str] = set()
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag == "svg":
            self.pictures.append(given["aria-label"])
        if tag == "a" and given["href"].startswith("#"):
            self.links.add(given["href"][1:])
        if "id" in given:
            self.ids.append(given["id"])


def failed(study: optuna.Study, error: str, **attrs: Any) -> None:
    trial = create_trial(state=TrialState.FAIL, user_attrs={"error": error, **attrs})
    study.add_trial(trial)


def test_the_page_of_a_sweep() -> None:
    study = sweep_study(60)
    page = report_html(study, FACTS)
    seen = Page(page)
    best = max((one for one in study.trials if one.value), key=lambda one: one.value or 0.0)
    assert f"Run {best.user_attrs['run']} is the best: F1 {best.value:.4g}" in page
    assert "its model&#x27;s loss is 0.08 below the best baseline&#x27;s: surely better" in page
    assert len(seen.pictures) == 6 + len(SPACE)
    assert all(seen.pictures)
    assert seen.links <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))
    assert len([name for name in seen.ids if re.fullmatch(r"r\d+", name)]) == 60
    assert "the loss is not a number from epoch 1 on" in page
    assert report_html(sweep_study(60), FACTS) == page
    assert sys.modules["matplotlib.pyplot"].get_fignums() == []


def test_a_page_of_many_runs_is_small_and_says_what_it_leaves_out() -> None:
    page = report_html(sweep_study(900), FACTS)
    assert len(page) < 1_200_000
    assert f"{900 - MOST_ROWS} more runs are not listed" in page
    assert len(re.findall(r'<span id="r\d+"', page)) == MOST_ROWS
    assert len(re.findall(r"<image ", page)) >= 2  # dots by the thousand are images
    assert Page(page).links <= set(Page(page).ids)


def test_names_and_errors_are_text() -> None:
    space = {
        HOSTILE: FloatDistribution(1e-4, 1.0, log=True),
        "kind": CategoricalDistribution([HOSTILE, "b", None]),
    }
    study = sweep_study(30, space=space)
    failed(study, HOSTILE, host=HOSTILE, run=31, seconds=2.0)
    test = Examination({**TEST, "models": {HOSTILE: TEST["models"]["lstm"], **TEST["models"]}})
    facts = SweepFacts(HOSTILE, HOSTILE, HOSTILE, test=test, notes=[HOSTILE])
    page = report_html(study, facts)
    assert Page(page).tags["script"] == 1  # that of all pages
    assert "alert(1)" in page
    assert not {"\x00", "\x1b"} & set(page)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (None, "0 of 0 runs ended. There is no best run: none has a metric yet"),
        (TrialState.WAITING, "There is no best run: none has a metric yet"),
        (TrialState.RUNNING, "There is no best run: none has a metric yet"),
        (TrialState.FAIL, "1 of 1 run ended. There is no best run: all of them failed"),
    ],
)
def test_a_sweep_without_a_best_run_has_a_page(state: TrialState | None, words: str) -> None:
    study = optuna.create_study()
    if state is not None:
        started = {"started": "2026-11-21T01:00:00+00:00", "host": "a"}
        study.add_trial(create_trial(state=state, user_attrs=started))
    page = report_html(study, SweepFacts("night", "log_loss"))
    assert words in page
    assert "The best run" not in page


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_a_page_of_few_runs_says_that_they_are_few(runs: int) -> None:
    page = report_html(sweep_study(runs), FACTS)
    assert "Fewer than 10 runs have a metric" in page
    assert "It was not tested yet" in report_html(sweep_study(runs), SweepFacts("night", "f1"))


def test_less_is_better_where_the_study_minimizes() -> None:
    study = optuna.create_study(direction="minimize")
    for value in (0.5, 0.3, 0.3, float("inf")):
        study.add_trial(create_trial(value=value, user_attrs={}))
    data = SweepData(study, SweepFacts("night", "log_loss"))
    assert [data.run(one) for one in data.judged] == [2, 3, 1]
    assert "log loss 0.3 on the validation" in report_html(study, data.facts)


def test_the_run_that_the_sweep_chose_is_the_best_whatever_came_later() -> None:
    facts = SweepFacts("night", "f1", best={"run": 5})
    data = SweepData(sweep_study(20), facts)
    assert data.best is not None
    assert data.run(data.best) == 5


def test_the_parameter_that_matters_is_the_most_important() -> None:
    data = SweepData(sweep_study(200), FACTS)
    assert data.ordered[0] == "learning_rate"
    assert data.importances["learning_rate"] > 0.5
    assert sum(data.importances.values()) == pytest.approx(1.0)
    assert SweepData(sweep_study(9), FACTS).importances == {}


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        ({"value": -0.1, "low": -0.2, "high": -0.05}, "0.1 below the best baseline&#x27;s: surely"),
        ({"value": -0.1, "low": -0.2, "high": 0.05}, "better here, though not surely so"),
        ({"value": 0.1, "low": -0.2, "high": 0.5}, "no better than the best baseline&#x27;s"),
        (None, "not compared with the baselines"),
    ],
)
def test_the_test_is_put_into_words(gain: Any, words: str) -> None:
    models = {"rates": {"log_loss": 0.5}, "lstm": {"log_loss": 0.4, "log_loss_gain": gain}}
    report = {"models": models, "chosen": "rates", "loss": "log_loss", "batches": 3}
    page = report_html(sweep_study(3), SweepFacts("night", "f1", test=Examination(report, looks=2)))
    assert words in page
    assert "Of all models rates, a baseline, was chosen to answer" in page
    assert "used 2 times, each with another model" in page


def test_the_folder_of_a_sweep_is_read_and_damage_is_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "night.sweep"
    (folder / "best" / "model").mkdir(parents=True)
    (folder / "best" / "bestmodel.info").write_text(
        'run = 2\nmodel.looks = 2\nmodel.reason = "it is best"\nbroken = {\nno line\n'
    )
    report = folder / "best" / "model" / "report.json"
    report.write_text('{"models": {}, "chosen": "lstm", "loss": "log_loss"}')
    facts = read_facts(folder, metric="f1", question="fail", network="lstm")
    assert (facts.name, facts.best["run"]) == ("night", 2)
    assert facts.test is not None
    assert (facts.test.reason, facts.test.looks) == ("it is best", 2)
    report.write_text('{"models": []}')
    damaged = read_facts(folder, metric="f1", question="fail", network="lstm")
    assert damaged.test is None
    assert "report.json cannot be read" in damaged.notes[0]
    assert "report.json cannot be read" in report_html(sweep_study(3), damaged)
