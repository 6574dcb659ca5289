"""Learning from the store, from a snapshot of it, or from the logs: one and the same."""

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
import polars as pl
import pytest
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.cli.output import Console
from jobsight.documents import JobDocument
from jobsight.errors import SourceError, StoreError, UsageError
from jobsight.learning.reading import are_documents, read_events
from jobsight.settings import Settings, StoreSettings

if TYPE_CHECKING:
    from tests.testbed.kafka import KafkaBroker
    from tests.testbed.redis import RedisServer

pytestmark = pytest.mark.usefixtures("fewest_trees")

POOL = Path(__file__).parents[2] / "data" / "pool-a.log.gz"
LINES = 500_000
"""The first part of the pool: enough for a quick training."""

AT = "2026-11-21 01:35:00Z"
QUICK = {"JOBSIGHT_HOLD__BOOTSTRAP": "100"}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "JOBSIGHT_STORE"):
        monkeypatch.delenv(name, raising=False)


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), env=QUICK)


def said(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.exception
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log, a store that it was imported into, and a snapshot of that."""
    folder = tmp_path_factory.mktemp("pool")
    with gzip.open(POOL, "rt") as whole, (folder / "pool.log").open("w") as log:
        log.writelines(islice(whole, LINES))
        log.writelines(iter(lambda: next(whole), "...\n"))
        log.write("...\n")
    said("import", folder / "pool.log", "--store", folder / "jobs.db")
    said("store", "export", "-o", folder / "snapshot", "--store", folder / "jobs.db")
    return folder


def kinds(folder: Path) -> dict[str, str]:
    """Each way to name the same history."""
    return {
        "log": str(folder / "pool.log"),
        "file": str(folder / "jobs.db"),
        "url": f"sqlite://{folder}/jobs.db",
        "snapshot": str(folder / "snapshot"),
    }


@pytest.fixture(scope="module")
def taught(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The model that each kind of source gives; a file and its address are one store."""
    place, models = tmp_path_factory.mktemp("models"), {}
    for name, text in kinds(folder).items():
        if name != "url":
            models[name] = place / name
            said("train", "hold", text, "-o", models[name], "--model", "boosted")
    return models


def test_without_hashes_the_table_is_the_same(folder: Path) -> None:
    for text in kinds(folder).values():
        hashed, plain = (
            read_events([text], Settings(), Console, hashed=one) for one in (True, False)
        )
        assert plain.table.equals(hashed.table)
        assert (plain.sources, plain.names) == ([], [one.name for one in hashed.sources])


def test_the_event_table_is_that_of_the_log(folder: Path) -> None:
    tables = {
        name: read_events([text], Settings(), Console) for name, text in kinds(folder).items()
    }
    log = tables.pop("log")
    assert len(log.table) > 30_000
    for name, one in tables.items():
        told = log.table.columns.copy()
        told.remove("source")  # the file that a record was read from
        assert one.table.select(told).equals(log.table.select(told)), name
        assert one.report.by_code == log.report.by_code
        assert (one.report.first, one.report.last) == (log.report.first, log.report.last)
        assert one.report.jobs == log.report.jobs
        assert (one.sources[0].sha256, one.sources[0].bytes) == (
            tables["file"].sources[0].sha256, tables["file"].sources[0].bytes,
        )  # fmt: skip


def test_models_are_the_same_bytes(folder: Path, taught: dict[str, Path]) -> None:
    made: dict[str, dict[str, bytes]] = {}
    manifests: dict[str, dict[str, Any]] = {}
    for name, out in taught.items():
        manifests[name] = json.loads((out / "manifest.json").read_text())
        made[name] = {
            path.relative_to(out).as_posix(): path.read_bytes()
            for path in out.rglob("*")
            if path.is_file() and path.name != "manifest.json"
        }
    assert len(made["log"]) > 5
    for name in taught:
        assert made[name] == made["log"], name
        (source,), _ = manifests[name].pop("sources"), manifests[name].pop("sha256")
        assert source["name"] == kinds(folder)[name]
        assert manifests[name] == manifests["log"]


def test_frames_and_answers_are_the_same(folder: Path, tmp_path: Path) -> None:
    answers, frames = [], []
    for name, text in kinds(folder).items():
        option = "--store" if name in ("file", "url") else "--log"
        answers.append(json.loads(said("hold", "--all", option, text, "--at", AT, "--json")))
        said("frames", "hold", text, "-o", tmp_path / name, "--m", "4", "--j", "3")
        frames.append((tmp_path / name / "frames.npy").read_bytes())
    assert len(answers[0]) > 5
    assert all(one == answers[0] for one in answers)
    assert all(one == frames[0] for one in frames)


def test_the_other_verbs_read_stores_too(
    folder: Path, tmp_path: Path, taught: dict[str, Path]
) -> None:
    store, model = folder / "jobs.db", taught["file"]
    shown = [said("evaluate", "hold", text, "--model", model) for text in kinds(folder).values()]
    assert len(set(shown)) == 1
    said("report", "hold", folder / "snapshot", "--model", model, "-o", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    said("events", store, "-o", tmp_path / "events.parquet")
    assert len(pl.read_parquet(tmp_path / "events.parquet")) > 30_000
    refused = call("report", "hold", store, "--model", model, "-o", store)
    assert "is a store of jobs, not a report" in str(refused.exception)


def test_a_log_and_a_store_are_read_together(folder: Path) -> None:
    log, store = str(folder / "pool.log"), str(folder / "jobs.db")
    both = read_events([store, log], Settings(), Console)
    alone = read_events([log], Settings(), Console)
    assert len(both.table) == 2 * len(alone.table)
    assert both.table["log"].to_list() == sorted(both.table["log"].to_list())
    assert both.table["log"].n_unique() == 2 * alone.table["log"].n_unique()
    assert [source.name for source in both.sources] == [log, store]


def test_answers_are_kept_in_the_jobs_documents(folder: Path) -> None:
    store = folder / "jobs.db"
    answers = json.loads(said("hold", "--each", "--store", store, "--at", AT, "--json", "--save"))
    one = next(answer for answer in answers if answer["probability"] is not None)
    told = json.loads(said("job", one["job"], "--store", store, "--json"))
    (kept,) = msgspec.convert(told, JobDocument).predictions
    assert kept.answer == one
    assert (kept.question, kept.model) == ("hold", one["model"])
    assert len(kept.inputs) == 16
    assert f"{one['answer']}, " in said("job", one["job"], "--store", store)
    # Asked again, at the same moment, it is the same prediction.
    whole = told["id"]
    saved = call("hold", whole, "--store", store, "--at", AT, "--save")
    assert saved.exit_code == 0
    assert "saved 1 answer in" in saved.stderr
    assert json.loads(said("job", whole, "--store", store, "--json")) == told
    elsewhere = call("hold", whole.replace("vm", "vx"), "--store", store, "--at", AT)
    assert "is held, but not on vx" in str(elsewhere.exception)


def test_no_answer_is_kept_of_a_job_that_the_store_does_not_know(
    folder: Path, tmp_path: Path
) -> None:
    from jobsight.store import open_store

    other = tmp_path / "other.db"
    open_store(str(other), create=True).close()
    call_log = ("hold", "--each", "--log", folder / "pool.log", "--at", AT, "--save")
    result = CliRunner().invoke(app, list(map(str, call_log)), env={"JOBSIGHT_STORE": str(other)})
    assert result.exit_code == 1
    assert "the store has no document of job" in str(result.exception)
    assert "jobs held as of" in result.stdout
    assert json.loads(said("jobs", "--store", other, "--json")) == []


def test_what_is_not_there_is_told_and_not_made(folder: Path, tmp_path: Path) -> None:
    missing = call("train", "hold", f"sqlite://{tmp_path}/none.db", "-o", tmp_path / "model")
    assert isinstance(missing.exception, StoreError)
    assert list(tmp_path.iterdir()) == []
    unnamed = CliRunner().invoke(app, ["hold", "1.0"], env={"XDG_DATA_HOME": str(tmp_path)})
    assert isinstance(unnamed.exception, UsageError)
    assert "--log FILE, or the store with --store" in str(unnamed.exception)
    empty = tmp_path / "empty.db"
    call("import", folder / "pool.log", "--format", "sacct", "--store", empty)
    assert isinstance(call("events", tmp_path / "no.log").exception, SourceError)


def test_a_store_without_events_of_logs_teaches_nothing(tmp_path: Path) -> None:
    from tests.support.storedjobs import filled, slurm_job

    from jobsight.documents import State

    store = filled(tmp_path / "jobs.db", [slurm_job("1", State.PENDING, State.FAILED)])
    result = call("train", "hold", store, "-o", tmp_path / "model")
    assert isinstance(result.exception, SourceError)
    assert "no event record in" in str(result.exception)


def test_what_is_taken_for_documents(folder: Path, tmp_path: Path) -> None:
    for text in (
        "redis://host:6379/0",
        "rediss://host",
        "unix:///run/x.sock",
        "sqlite:///x",
        "store:",
    ):
        assert are_documents(text)
    for text in kinds(folder).values():
        assert are_documents(text) is (not text.endswith(".log"))
    for text in ("-", "x.log", "http://host", "store:x", "\0", str(tmp_path), "s" * 5000):
        assert not are_documents(text)


def test_the_store_that_is_set_has_a_short_name(folder: Path) -> None:
    settings = Settings(store=StoreSettings(url=str(folder / "jobs.db")))
    reading = read_events(["store:"], settings, Console)
    assert reading.sources[0].name == str(folder / "jobs.db")


def test_answers_are_published(folder: Path, kafka_broker: "KafkaBroker") -> None:
    store = folder / "jobs.db"
    environment = {"JOBSIGHT_KAFKA__BROKERS": kafka_broker.bootstrap}
    topic = f"answers-{uuid4().hex}"
    asked = ["hold", "--each", "--store", str(store), "--at", AT, "--json", "--publish"]
    done = CliRunner().invoke(app, asked, env=environment | {"JOBSIGHT_KAFKA__ANSWERS": topic})
    assert done.exit_code == 0, done.exception
    answers = json.loads(done.stdout)
    assert f"published {len(answers)} answers to {topic}" in done.stderr
    messages = [json.loads(one) for one in kafka_broker.consume(topic, len(answers))]
    said_of = {one["id"].rpartition(":")[2]: one["answer"] for one in messages}
    assert said_of == {one["job"]: one for one in answers}
    unset = CliRunner().invoke(app, asked)
    assert "kafka" in str(unset.exception).lower()
    assert json.loads(unset.stdout) == answers  # given all the same


def test_a_store_on_a_server_teaches_the_same(
    folder: Path, tmp_path: Path, taught: dict[str, Path], redis_server: "RedisServer"
) -> None:
    environment = QUICK | {"JOBSIGHT_STORE__PREFIX": f"train-{uuid4().hex}"}

    def run(*arguments: object) -> None:
        done = CliRunner().invoke(app, list(map(str, arguments)), env=environment)
        assert done.exit_code == 0, done.exception

    run("import", folder / "pool.log", "--store", redis_server.url)
    run("train", "hold", redis_server.url, "-o", tmp_path / "server", "--model", "boosted")
    server, log = (
        json.loads((path / "manifest.json").read_text())
        for path in (tmp_path / "server", taught["log"])
    )
    assert server["files"] == log["files"]
    assert server["sources"][0]["name"].startswith("redis://127.0.0.1:")
