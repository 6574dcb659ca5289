"""The page of a sweep: what it says, what it must never hold, and odd sweeps."""

import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.support.hold_reports import HOSTILE
from tests.support.limits import prove
from tests.unit.reports.sweep.sweep_folders import REPORT, SPACE, START, sweep_folder
from typer.testing import CliRunner

from jobsight.cli.main import app
from jobsight.errors import OutputError
from jobsight.files import write_json
from jobsight.learning.sweep.layout import Layout
from jobsight.reports.sweep.report import write_report

Lines = list[dict[str, Any]]
Change = Callable[[int, Lines], Lines]
# Numbers of a log scale, few numbers and names: each parameter has a picture, dear to draw.
FEW = {name: SPACE[name] for name in ("learning_rate", "lstm_layers", "network")}
VOID = {"br", "col", "hr", "meta", "input"}
NO_NUMBER = re.compile(r"""\b(nan|inf)\b""")


class Reader(HTMLParser):
    """Checks that elements nest, and keeps tags, ids, links and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader


def page_of(folder: Path, runs: int, **given: Any) -> str:
    sweep_folder(folder, runs, **given)
    output = folder.with_suffix(".html")
    write_report(folder, output)
    return output.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a sweep that has ended, its page beside it."""
    folder = tmp_path_factory.mktemp("sweeps") / "night.sweep"
    page_of(folder, 40, epochs=20)
    return folder


def test_it_stands_alone_and_says_what_was_found(night: Path) -> None:
    page = night.with_suffix(".html").read_text(encoding="utf-8")
    reader = read(page)
    text = " ".join(" ".join(reader.text).split())
    assert "40 of 40 runs ended" in text
    assert "its loss is 0.08 below the best baseline's: surely better" in text
    assert "The best baseline has ROC AUC 0.72" in text
    assert "SHA-256 " + "ab" * 32 in text
    titles = [
        "All runs at a glance", "The best run on the test part", "Which parameters matter",
        "How they learned", "Time and cost", "What failed, what was dropped", "All runs",
        "Where it comes from",
    ]  # fmt: skip
    assert all(title in text for title in titles)
    assert not {"iframe", "link", "img", "object"} & {tag for tag, _ in reader.tags}
    addresses = [a.get("href") or a.get("src") for _, a in reader.tags if "href" in a or "src" in a]
    assert all(address and address.startswith("#") for address in addresses)
    assert not re.search(r"url\((?!#)", page)
    assert "@import" not in page


def test_links_lead_somewhere_and_pictures_have_words(night: Path) -> None:
    reader = read(night.with_suffix(".html").read_text(encoding="utf-8"))
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    wanted = {str(attrs["href"])[1:] for tag, attrs in reader.tags if tag == "a"}
    assert wanted <= set(ids)
    pictures = [attrs for tag, attrs in reader.tags if tag == "svg"]
    assert len(pictures) >= 12
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in pictures)
    # Under the pointer a line says whose it is.
    assert any(re.match(r"run \d+ · f1 0\.\d+ · finished", text) for text in reader.text)


def test_the_same_folder_gives_the_same_bytes(night: Path, tmp_path: Path) -> None:
    write_report(night, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == night.with_suffix(".html").read_bytes()


def test_very_many_runs_fit_a_small_page_soon_that_shows_the_best(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 1300, epochs=60)
    begin = time.process_time()
    write_report(folder, tmp_path / "x.html")
    assert time.process_time() - begin < 15
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 4_000_000
    text = " ".join(read(page).text)
    assert "300 more runs are in the records alone" in text
    assert "of the weaker runs are not drawn" in text


def test_longer_curves_are_thinned_and_keep_their_ends(tmp_path: Path) -> None:
    def longer(run: int, lines: Lines) -> Lines:
        epochs = [
            {"event": "epoch", "time": START + k, "epoch": k, "train_loss": 1 / k,
             "select_loss": 1 / k, "seconds": 1.0}
            for k in range(1, 3001)
        ]  # fmt: skip
        return [lines[0], *epochs, lines[-1]]

    page = page_of(tmp_path / "x.sweep", 25, epochs=1, change=longer, parameters=FEW)
    assert len(page) < 1_300_000


def having(**parameters: Any) -> Change:
    """Runs of these parameters; a value may be a function of the run's number."""

    def change(run: int, lines: Lines) -> Lines:
        told = {k: v(run) if callable(v) else v for k, v in parameters.items()}
        return [{**line, "parameters": told} if "parameters" in line else line for line in lines]

    return change


def ending(**values: Any) -> Change:
    """Runs that end so."""
    return lambda _, lines: [
        {**line, **values} if line["event"] == "end" else line for line in lines
    ]


def huge(run: int, lines: Lines) -> Lines:
    """Numbers near the edge of what a float holds."""
    sign = (-1) ** run
    given = {"p": 1e300 * sign, "q": 5e-324 * run, "r": 2**70 + run}
    losses = {"train_loss": 1e299, "select_loss": 1e300 * sign, "seconds": 1e300}
    return [
        {**line, **(losses if line["event"] == "epoch" else {}),
         **({"metrics": {"f1": 1e300 * sign}, "seconds": 1e300} if line["event"] == "end" else {}),
         **({"parameters": given} if "parameters" in line else {})}
        for line in lines
    ]  # fmt: skip


ODD: dict[str, Change] = {
    "as it is": lambda _, lines: lines,
    "failed": ending(status="failed", cause="diverged", metrics={}),
    "no cause": ending(status="failed", metrics={}),
    "dropped": ending(status="dropped", cause="hopeless"),
    "no epochs": lambda _, lines: [line for line in lines if line["event"] != "epoch"],
    "just begun": lambda _, lines: lines[:1],
    "under way": lambda _, lines: lines[:5],
    "nothing told": lambda _, __: [],
    "one parameter": having(learning_rate=lambda run: 0.001 * run),
    "constant": having(a=1, b="x"),
    "no parameter": having(),
    "many parameters": having(**{f"p{k}": (lambda run, k=k: run * k % 7) for k in range(200)}),
    "mixed kinds": having(a=lambda run: [1, "x", None, True, [1], 2.5][run % 6]),
    "metric NaN": ending(metrics={"f1": None}),
    "metric missing": ending(metrics={}),
    "metric no number": ending(metrics={"f1": "best"}),
    "all alike": ending(metrics={"f1": 0.5}),
    "huge": huge,
    "no clock": lambda run, lines: [{**line, "time": 2**61 * (run % 2)} for line in lines],
}


@pytest.mark.parametrize(
    ("runs", "goal"), [pytest.param(1, "maximize", marks=prove), (12, "minimize")]
)
@pytest.mark.parametrize("kind", ODD)
def test_odd_sweeps_have_a_page_too(tmp_path: Path, kind: str, runs: int, goal: str) -> None:
    page = page_of(
        tmp_path / "x.sweep", runs, epochs=6, change=ODD[kind], tested=runs > 1,
        metric={"name": "f1", "goal": goal}, parameters=FEW,
    )  # fmt: skip
    reader = read(page)
    drawn = [
        str(value)
        for tag, attrs in reader.tags
        for key, value in attrs.items()
        if tag in {"path", "circle", "rect", "text", "svg"} and key != "class"
    ]
    assert not any(NO_NUMBER.search(value) for value in drawn)
    assert len(page) < 1_000_000


def test_a_sweep_without_runs_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path / "x.sweep", 0, tested=False)
    assert "There is no best run: none has a metric yet." in page


def test_all_failed_is_said_with_causes(tmp_path: Path) -> None:
    page = page_of(tmp_path / "x.sweep", 5, change=ODD["failed"], tested=False)
    assert "There is no best run: all of them failed." in page
    assert "diverged" in page


def hostile(run: int, lines: Lines) -> Lines:
    given = {HOSTILE: HOSTILE + str(run % 5), "y": {HOSTILE: float(run)}, "z": [HOSTILE] * 1000}
    status = ("failed", "dropped", "early")[run % 3]
    return [
        {**line, **({"parameters": given} if "parameters" in line else {}),
         **({"host": HOSTILE + str(run)} if "host" in line else {}),
         **({"cause": HOSTILE * 50, "status": status} if line["event"] == "end" else {})}
        for line in lines
    ]  # fmt: skip


def test_hostile_text_stays_text_and_short(tmp_path: Path) -> None:
    spec = {"distribution": HOSTILE, "min": HOSTILE, "values": [HOSTILE]}
    space = {**SPACE, HOSTILE: spec}
    page = page_of(tmp_path / "x.sweep", 40, epochs=4, change=hostile, parameters=space)
    reader = read(page)
    tags = [tag for tag, _ in reader.tags]
    assert tags.count("script") == 1
    assert "img" not in tags
    assert not any(key.startswith("on") for _, attrs in reader.tags for key in attrs)
    assert not {"\x00", "\x1b", "\u202e"} & set(page)
    assert "alert(1)" in " ".join(reader.text)
    assert len(page) < 600_000


def test_hostile_reports_of_the_test_do_no_harm(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 12, epochs=4, parameters=FEW)
    models = {
        HOSTILE: {"roc_auc": 0.6},
        "lstm": {"roc_auc": None, "roc_auc_ci": [None, None], "log_loss_gain": None},
    }
    report = {"models": models, "chosen": HOSTILE, "loss": "log_loss"}
    write_json(Layout(folder).best / "model" / "report.json", report)
    write_report(folder, tmp_path / "x.html")
    reader = read((tmp_path / "x.html").read_text(encoding="utf-8"))
    assert [tag for tag, _ in reader.tags].count("script") == 1


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("boosted", "Of all models boosted was chosen to answer."),
        ("rates", "Of all models rates, a baseline, was chosen to answer."),
    ],
)
def test_another_model_that_answers_is_named(tmp_path: Path, chosen: str, said: str) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 12, epochs=4, parameters=FEW)
    path = Layout(folder).best / "model" / "report.json"
    write_json(path, {**REPORT, "chosen": chosen})
    write_report(folder, tmp_path / "x.html")
    assert said in (tmp_path / "x.html").read_text(encoding="utf-8")


def test_best_values_at_the_end_of_what_was_searched_are_named(tmp_path: Path) -> None:
    def rising(run: int, lines: Lines) -> Lines:
        told = having(m=lambda run: run)(run, lines)
        return ending(metrics={"f1": run / 100}, status="finished")(run, told)

    space = {"m": {"min": 1, "max": 40}}
    page = page_of(tmp_path / "x.sweep", 40, epochs=2, change=rising, parameters=space)
    assert "at the high end: search higher" in page
    assert "more is better (ρ = +1.00)" in page


def test_causes_tell_what_sets_their_runs_apart(tmp_path: Path) -> None:
    page = page_of(tmp_path / "x.sweep", 100, epochs=2, parameters=FEW)
    assert re.search(r"learning_rate: 0\.0\d+ to 0\.\d+; others", page)


def test_the_verb_writes_it_at_any_time(tmp_path: Path) -> None:
    folder = sweep_folder(tmp_path / "x.sweep", 3, epochs=2, tested=False, parameters=FEW)
    output = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", "sweep", str(folder), "-o", str(output)])
    assert done.exit_code == 0
    assert output.exists()
    record = Layout(folder).record(2)
    refused = CliRunner().invoke(app, ["report", "sweep", str(folder), "-o", str(record)])
    assert isinstance(refused.exception, OutputError)
