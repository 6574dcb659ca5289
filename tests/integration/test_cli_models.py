"""From training to answers by way of the registry, as a user goes it."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from tests.support import pools
from tests.support.histories import table
from tests.support.hold_models import held

from jobsight.cli.main import main
from jobsight.history.readreport import ReadReport
from jobsight.history.timelines import History
from jobsight.learning.manifest import Source
from jobsight.learning.reading import Reading
from jobsight.learning.registry import Registry

QUICK = ("--model", "rates")


class Done(NamedTuple):
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


def of(access_point: str | None, history: History) -> History:
    """The same history, of another access point."""
    name = pl.lit(access_point, pl.String)
    return History.from_table(history.table.with_columns(access_point=name))


def joined(*parts: History) -> History:
    """Several logs side by side."""
    return History.from_table(
        pl.concat(part.table.with_columns(log=pl.lit(k, pl.Int32)) for k, part in enumerate(parts))
    )


def someone_held(access_point: str | None, cluster: int) -> History:
    return of(access_point, History.from_table(table(held(5000, cluster, owner="dee"))))


LOGS: dict[str, Callable[[], History]] = {
    "ap1": lambda: of("ap1", pools.history()),
    "grown": lambda: of("ap1", pools.grown()),
    "unnamed": lambda: of(None, pools.history()),
    "ap2": lambda: of("../ap2\x1b[31m", pools.history(seed=2)),
    "asked": lambda: someone_held("ap1", 9001),
    "nobody": lambda: someone_held(None, 9003),
    "both": lambda: joined(
        someone_held("ap1", 9001), someone_held("../ap2\x1b[31m", 9002), someone_held("ap9", 9004)
    ),
}
SMALL = "hold: {bootstrap: 100, frames: {m: 6, j: 3}}\n"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    (tmp_path / "small.yaml").write_text(SMALL)
    monkeypatch.setenv("JOBSIGHT_CONFIG", str(tmp_path / "small.yaml"))
    monkeypatch.chdir(tmp_path)

    def read(_: object, logs: list[str], *__: object, **___: object) -> Reading:
        history = LOGS[logs[0]]()
        first, last = int(history.clock.min()), int(history.clock.max())
        told = ReadReport(files=1, logs=1, events=len(history), first=first, last=last)
        return Reading(history, told, [Source(logs[0], "0" * 64, 1)])

    for module in ("answering.session", "cli.reading"):
        monkeypatch.setattr(f"jobsight.{module}.read", read)

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["jobsight", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return call


def trained(run: Run, log: str = "ap1", *more: str) -> Any:
    done = run("train", "hold", log, *QUICK, "--json", *more)
    assert done.status == 0, done.err
    return done.json()


def test_trained_listed_shown_and_answering(run: Run, registry: Path) -> None:
    empty = run("models", "list")
    assert (empty.status, empty.err) == (0, "")
    assert "no model is in the registry" in empty.out
    assert run("models", "list", "--json").json() == []
    told = run("train", "hold", "ap1", *QUICK)
    digest = Registry(registry).entries()[0].digest
    assert told.out.endswith(
        f"model {digest} is the champion of hold for ap1: it answers from now on\n"
    )
    rows = run("models", "list", "--json").json()
    assert [(row["digest"], row["cluster"], row["champion"]) for row in rows] == [
        (digest, "ap1", True)
    ]
    assert rows[0]["best_baseline"]["name"] in {"rates", "rates:learning"}
    assert re.search(rf"{digest} \*  +hold +ap1", run("models", "list").out)
    page = run("models", "show", digest[:5])
    assert page.status == 0, page.err
    for said in (", champion", "ROC AUC", "constant", "ECE", "settings {", "data from ", "sha256"):
        assert said in page.out
    shown = run("models", "show", "champion", "--json").json()
    assert shown["settings"]["frames"]["m"] == 6
    put = shown["history"][0]
    assert (put["event"], put["why"]) == ("put", "trained on ap1")
    assert {"constant", "rates"} <= set(shown["report"]["models"])
    answer = run("hold", "9001.0", "--log", "asked", "--json").json()
    assert answer["model"].endswith(f"@{digest}")
    for name in (digest, digest[:4], f"linear@{digest}", "champion", "champion:ap1"):
        same = run("hold", "9001.0", "--log", "asked", "--model", name, "--json").json()
        assert same["model"] == answer["model"]
    rules = run("hold", "9001.0", "--log", "asked", "--model", "none", "--json").json()
    assert "uncalibrated" in rules["model"]


def test_one_name_serves_every_verb(run: Run, tmp_path: Path) -> None:
    digest = trained(run)["registry"]["digest"]
    for name in (digest, "champion"):
        done = run("evaluate", "hold", "grown", "--model", name, "--json")
        assert done.status == 0, done.err
        assert {"models", "costs", "chosen", "answers"} <= set(done.json())
        page = tmp_path / f"{name}.html"
        assert run("report", "hold", "grown", "--model", name, "-o", str(page)).status == 0
        assert page.exists()
        page.unlink()
        early = ("--at", "1990-01-01", "-o", str(page))
        refused = run("report", "hold", "grown", "--model", name, *early)
        assert (refused.status, page.exists()) == (1, False)
        assert "the first event is of" in refused.err


def test_the_cluster_of_a_model(run: Run) -> None:
    assert trained(run)["registry"]["cluster"] == "ap1"
    assert trained(run, "unnamed")["registry"]["cluster"] == "default"
    assert trained(run, "ap1", "--cluster", "x/y")["registry"]["cluster"] == "x/y"
    assert trained(run, "ap2")["registry"]["cluster"] == "../ap2\x1b[31m"
    said = run("models", "list").out
    assert "../ap2 [31m" in said
    assert all(letter.isprintable() or letter == "\n" for letter in said)


def test_each_access_points_jobs_are_answered_by_its_champion(run: Run) -> None:
    one = trained(run)["registry"]["digest"]
    other = trained(run, "ap2")["registry"]["digest"]
    answers = {
        answer["job"]: answer["model"]
        for answer in run("hold", "--all", "--log", "both", "--json").json()
    }
    assert answers["9001.0"].endswith(one)
    assert answers["9002.0"].endswith(other)
    assert "uncalibrated" in answers["9004.0"]
    # Where the cluster default has a champion, it answers for the others.
    usual = trained(run, "unnamed", "--seed", "4")["registry"]["digest"]
    asked = run("hold", "9004.0", "9001.0", "--log", "both", "--json").json()
    assert [answer["job"] for answer in asked] == ["9004.0", "9001.0"]
    assert [answer["model"].split("@")[1] for answer in asked] == [usual, one]
    nobody = run("hold", "9003.0", "--log", "nobody", "--json").json()
    assert nobody["model"].endswith(usual)


def test_folders_and_the_registry(run: Run, registry: Path, tmp_path: Path) -> None:
    found = trained(run, "ap1", "-o", "made", "--no-registry")
    assert found["registry"] is None
    assert not registry.exists()
    done = run("hold", "9001.0", "--log", "asked", "--model", "made", "--json")
    assert done.json()["model"].split("@")[0] == found["choice"]["name"]
    both = trained(run, "ap1", "-o", "made")
    assert both["registry"]["champion"]
    assert both["model"] == "made"
    assert len(Registry(registry).entries()) == 1
    # Trained again of the same log and seed, it is the same model.
    assert trained(run)["registry"]["digest"] == both["registry"]["digest"]
    assert len(Registry(registry).entries()) == 1
    assert not list(tmp_path.glob("jobsight-*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--no-registry",), "name the folder of the model with -o"),
        (("--no-registry", "--promote", "-o", "x"), "not with --no-registry"),
        (("--config", "hold.yaml"), "name it with -o"),
    ],
)
def test_a_model_that_would_go_nowhere(run: Run, arguments: tuple[str, ...], said: str) -> None:
    Path("hold.yaml").write_text("hold: {as_of: hold}")
    done = run("train", "hold", "ap1", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_registry_that_cannot_be_written_is_told_before_training(
    run: Run, registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.write_text("")
    monkeypatch.setattr("jobsight.cli.train.train_models", None)
    done = run("train", "hold", "ap1", *QUICK)
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "cannot write into the registry" in done.err


def test_comparing_and_promoting(run: Run, registry: Path) -> None:
    first = trained(run, "ap1", "--model", "boosted")["registry"]
    second = trained(run)["registry"]
    assert (first["champion"], second["champion"]) == (True, False)
    one, two = first["digest"], second["digest"]
    bare = run("models", "promote", two)
    assert (bare.status, bare.out) == (1, "")
    assert "no logs were given" in bare.err
    assert "--force" in bare.err
    found = run("models", "compare", one, two, "grown", "--json").json()
    assert found["examples"] > 100
    assert found["difference"]["low"] < found["difference"]["high"]
    assert {"constant", "rates"} <= {name.split("@")[0] for name in found["models"]}
    assert found["verdict"] in run("models", "compare", one, two, "grown").out
    weak = run("models", "promote", two, "grown", "--json")
    assert weak.json()["promoted"] is found["better"] is False
    assert (weak.status, weak.err.count("\n")) == (1, 1)
    assert "not surely better" in weak.err
    assert Registry(registry).find(one).champion
    done = run("models", "promote", two, "grown", "--force", "--why", "we like it")
    assert done.status == 0, done.err
    assert f"{two} is the champion of hold for ap1: forced; " in done.out
    assert Registry(registry).history("hold", "ap1")[-1].why.startswith("we like it; forced; ")
    again = run("models", "promote", two)
    assert (again.status, again.err) == (0, "")
    assert "it is the champion already" in again.out


def test_reports_side_by_side_say_that_they_may_not_be_comparable(run: Run) -> None:
    one = trained(run)["registry"]["digest"]
    two = trained(run, "grown", "--seed", "2")["registry"]["digest"]
    done = run("models", "compare", one, two)
    assert done.status == 0
    assert "the test parts differ (test since, test until)" in done.err
    found = run("models", "compare", one, two, "--json").json()
    assert [model["model"].split("@")[1] for model in found["models"]] == [one, two]
    assert len(found["warnings"]) == 2


def test_training_with_promote_judges_by_what_neither_knew(run: Run, registry: Path) -> None:
    first = trained(run, "ap1", "--promote")["registry"]
    assert first["champion"]
    done = run("train", "hold", "grown", *QUICK, "--promote", "--json")
    assert done.status == 0
    assert re.match(r"(not )?promoted: \w+@\w+ is (not )?surely better than ", done.err)
    promoted = not done.err.startswith("not")
    assert done.json()["registry"]["champion"] is promoted
    champion = Registry(registry).champion("hold", "ap1")
    assert champion is not None
    assert (champion.digest != first["digest"]) is promoted


def test_models_of_other_questions_are_not_compared(run: Run, tmp_path: Path) -> None:
    one = trained(run)["registry"]["digest"]
    (tmp_path / "small.yaml").write_text(SMALL.replace("{boot", "{success: terminated, boot"))
    two = trained(run)["registry"]["digest"]
    done = run("models", "compare", one, two, "grown")
    assert (done.status, done.out) == (1, "")
    assert "hold.success: exit_zero" in done.err


def test_removing(run: Run, registry: Path) -> None:
    one = trained(run)["registry"]["digest"]
    two = trained(run, "ap1", "--seed", "2")["registry"]["digest"]
    refused = run("models", "remove", one)
    assert (refused.status, refused.out) == (1, "")
    assert "is the champion of hold on ap1" in refused.err
    assert run("models", "remove", two, "--json").json()["removed"] == two
    assert run("models", "remove", one, "--force").out == f"removed {one}, hold for ap1\n"
    assert Registry(registry).entries() == []
    assert run("models", "show", one).status == 1
    # Nobody is champion: today's rules answer again.
    answer = run("hold", "9001.0", "--log", "asked", "--json").json()
    assert "uncalibrated" in answer["model"]


def test_a_model_of_several_clusters_is_named_with_one(run: Run) -> None:
    digest = trained(run)["registry"]["digest"]
    trained(run, "ap1", "--cluster", "b")
    done = run("models", "remove", digest, "--force")
    assert (done.status, done.out) == (2, "")
    assert "is a model of ap1, b; say which with --cluster" in done.err
    assert run("models", "remove", digest, "--force", "--cluster", "b").status == 0
    assert [row["cluster"] for row in run("models", "list", "--json").json()] == ["ap1"]


def test_a_damaged_champion_is_told_with_the_way_on(run: Run, registry: Path) -> None:
    entry = Registry(registry)
    digest = trained(run)["registry"]["digest"]
    (entry.find(digest).folder / "hold.json").write_text("{}")
    done = run("hold", "9001.0", "--log", "asked")
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert "the champion of hold for ap1 cannot be used" in done.err
    assert "--model none" in done.err
    assert run("hold", "9001.0", "--log", "asked", "--model", "none").status == 0
    rows = run("models", "list")
    assert rows.status == 0
    assert "damaged: " in rows.out
    assert run("models", "show", digest).status == 1
    # A model that is sound takes its place by force, whatever the damaged one would say.
    two = trained(run, "ap1", "--seed", "2")["registry"]["digest"]
    assert run("models", "promote", two, "grown").status == 1
    assert run("models", "promote", two, "grown", "--force").status == 0
    assert run("hold", "9001.0", "--log", "asked", "--json").json()["model"].endswith(two)


@pytest.mark.parametrize("verb", ["evaluate", "verify", "hold"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "there is no model directory 'nowhere'"),
        ("./nowhere", "there is no model directory"),
        ("abcd", "has no model abcd"),
        ("champion", "has no champion of hold for default"),
        ("champion:../x", "has no champion of hold for ../x"),
        ("\x1b[31m", r"there is no model directory '\[31m'"),
        ("", "there is no model directory ''"),
        ("x" * 5000, "there is no model directory 'xxx"),
    ],
)
def test_names_of_no_model(run: Run, verb: str, name: str, said: str) -> None:
    arguments = ("9001.0", "--log", "asked") if verb == "hold" else ("hold", "asked")
    done = run(verb, *arguments, "--model", name)
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert re.search(said, done.err)
    assert done.err.strip().isprintable()


def test_a_hostile_report_is_one_error(run: Run, registry: Path) -> None:
    from jobsight.learning.manifest import write_manifest

    made = Registry(registry)
    folder = Path("made")
    trained(run, "ap1", "-o", "made", "--no-registry")
    report = {
        "models": {"constant": {"a": 1}, "rates": [1], "\x1b[31m": {"x": 1}},
        "chosen": "\x1b[31m",
    }
    (folder / "report.json").write_text(json.dumps(report))
    (folder / "manifest.json").unlink()
    write_manifest(folder, question="hold", seed=0, settings={}, sources=[], facts={})
    digest = made.put(folder, "hold")
    for call in (("show", digest), ("compare", digest, digest)):
        done = run("models", *call)
        assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
        assert "is damaged" in done.err
    rows = run("models", "list")
    assert rows.status == 0
    assert "damaged" in rows.out


def test_a_name_with_a_newline_does_not_break_the_line(run: Run, registry: Path) -> None:
    record = registry / "ho\nld" / "x" / "registry.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")
    done = run("models", "list")
    assert (done.status, done.out, done.err.count("\n")) == (1, "", 1)
    assert "ho ld" in done.err and "use the version of Jobsight that wrote it" in done.err
