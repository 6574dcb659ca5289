from pathlib import Path
from typing import Any

import pytest

from jobsight.errors import SettingsError
from jobsight.questions.hold.settings import HoldSettings
from jobsight.settings import Settings


@pytest.fixture(autouse=True)
def _no_other_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("JOBSIGHT_CONFIG", raising=False)
    monkeypatch.delenv("JOBSIGHT_REGISTRY", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


def load(overrides: dict[str, Any] | None = None, config: Path | None = None) -> Settings:
    return Settings.load(overrides, config=config, questions={"hold": HoldSettings})


def hold(settings: Settings) -> HoldSettings:
    return settings.of("hold", HoldSettings)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_flags_win_over_environment_over_named_file_over_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ".config" / "jobsight"
    home.mkdir(parents=True)
    write(home / "jobsight.yaml", "timezone: UTC\nhold: {seed: 1, bootstrap: 100}\n")
    named = write(tmp_path / "named.yaml", "hold:\n  seed: 2\n  frames: {m: 7}\n")
    monkeypatch.setenv("JOBSIGHT_CONFIG", str(named))
    assert hold(load()).seed == 2
    monkeypatch.setenv("JOBSIGHT_HOLD__SEED", "3")
    settings = load({"hold": {"frames": {"j": 5}}})
    found = hold(settings)
    assert (settings.timezone, found.seed, found.bootstrap) == ("UTC", 3, 100)
    assert (found.frames.m, found.frames.j) == (7, 5)
    assert hold(load({"hold": {"seed": 4}})).seed == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hold:\n  sede: 1\n", r"x\.yaml:2:3: there is no setting 'hold\.sede'"),
        ("hold:\n  seed: many\n", r"x\.yaml:2:3: hold\.seed: .*given 'many'"),
        ("hold: 3\n", r"x\.yaml:1:1: hold: Input should be a mapping of names .*given 3"),
        (
            "eventlog:\n  paths: /var/EventLog\n",
            r"x\.yaml:2:3: eventlog\.paths: Input should be a list such as \[a, b\] or 'auto' "
            r"\(given '/var/EventLog'\)$",
        ),
        (
            "hold: {windows: [a]}",
            r"x\.yaml:1:\d+: hold\.windows\.0: Input should be a valid number",
        ),
        (
            "kafka: {topics: [a], dead_letters: a}",
            r"x\.yaml:1:1: kafka: .*dead_letters 'a' is read too, by the topic 'a'",
        ),
        ("kafka: {topics: ['^job'], dead_letters: d}", r"answers 'jobsight-answers' is read too"),
        ("kafka: {topics: []}", r"x\.yaml:1:1: kafka: .*no topic is to be read"),
        ("kafka: {jobcomp: {'^c.*': c}}", r"x\.yaml:1:\d+: kafka\.jobcomp\..*: String should"),
        ("registry: 5", r"x\.yaml:1:1: registry: Input should be a path"),
        ("a-b: 5", r"x\.yaml:1:1: there is no setting 'a-b'"),
        ("hold: {seed: 50,, }", r"x\.yaml:1:\d+"),
        ("- a\n- b\n", "settings are a mapping"),
    ],
)
def test_errors_name_file_line_and_column(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load(config=write(tmp_path / "x.yaml", text))


def test_a_missing_file_that_was_named_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no settings file .*none\.yaml$"):
        Settings.load(config=tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match=r"cannot read settings from .*: Is a directory$"):
        Settings.load(config=tmp_path)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORE", "HOLD__SEED", "TIMEZONE", "NO_SUCH__X", "MACHINE__BACKGROUND"):
        monkeypatch.setenv(f"JOBSIGHT_{name}", "")
    assert load().model_dump() == Settings().model_dump() | {"hold": HoldSettings().model_dump()}


def test_an_unknown_section_in_the_environment_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBSIGHT_TESTBED_LOGS", "others use the prefix too")
    monkeypatch.setenv("JOBSIGHT_SLURMM__CLUSTER", "c")
    with pytest.raises(
        SettingsError, match="'JOBSIGHT_SLURMM__CLUSTER': there is no section 'slurmm'"
    ):
        load()


def test_a_list_of_events_in_the_environment_is_refused_plainly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JOBSIGHT_HOLD__FRAMES__STATE_EVENTS", "everything")
    with pytest.raises(SettingsError, match=r"hold\.frames\.state_events"):
        load()


def test_lists_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBSIGHT_HOLD__WINDOWS", "[60,120.5]")
    monkeypatch.setenv("JOBSIGHT_HOLD__DELAYS", "auto")
    monkeypatch.setenv("JOBSIGHT_HOLD__HORIZON", "1e4")
    monkeypatch.setenv("JOBSIGHT_HOLD__FRAMES__STATE_EVENTS", " [0, 1]")
    monkeypatch.setenv("JOBSIGHT_ACCESS_POINT", "007")
    settings = load()
    found = hold(settings)
    assert found.windows == (60.0, 120.5)
    assert found.delays == "auto"
    assert found.horizon == 10_000.0
    assert found.frames.state_events == (0, 1)
    assert settings.access_point == "007"


@pytest.mark.parametrize("text", ["[60, 120", "[" * 1_000, "[!!python/object:os.system x]"])
def test_a_broken_list_in_the_environment(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("JOBSIGHT_HOLD__WINDOWS", text)
    with pytest.raises(SettingsError, match="JOBSIGHT_HOLD__WINDOWS"):
        load()


def test_a_section_and_a_setting_in_it_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBSIGHT_HOLD", "x")
    monkeypatch.setenv("JOBSIGHT_HOLD__SEED", "3")
    with pytest.raises(SettingsError, match="JOBSIGHT_HOLD"):
        load()


def test_a_store_is_named_by_its_address_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "jobsight.yaml"
    file.write_text("store:\n  retention_days: 30\n  url: here.db\n")
    told = Settings.load(config=file).store
    assert (told.url, told.retention_days) == ("here.db", 30.0)
    monkeypatch.setenv("JOBSIGHT_STORE", "redis://host/1")
    monkeypatch.setenv("JOBSIGHT_STORE__PREFIX", "mine")
    told = Settings.load(config=file).store
    assert (told.url, told.retention_days, told.prefix) == ("redis://host/1", 30.0, "mine")
    assert Settings.load({"store": "flag.db"}, config=file).store.prefix == "mine"
    assert Settings.load({"store": "flag.db"}, config=file).store.url == "flag.db"
    file.write_text("store: short.db\n")
    monkeypatch.delenv("JOBSIGHT_STORE")
    assert Settings.load(config=file).store.url == "short.db"


def test_a_store_without_a_name_lies_in_the_users_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JOBSIGHT_STORE", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert Settings().store.url == "~/.local/share/jobsight/jobs.db"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert Settings().store.url == "/data/jobsight/jobs.db"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert Settings().store.url == "~/.local/share/jobsight/jobs.db"


@pytest.mark.parametrize("prefix", ["", "a b", "{x}", "a*", "x" * 61])
def test_prefixes_that_would_trip_a_server(prefix: str) -> None:
    with pytest.raises(SettingsError, match=r"store\.prefix"):
        Settings.load({"store": {"prefix": prefix}})


def test_the_registry_lies_with_the_users_data_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings.load().registry == tmp_path / ".local/share/jobsight/models"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert Settings.load().registry == tmp_path / ".local/share/jobsight/models"
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert Settings.load().registry == Path("/data/jobsight/models")
    monkeypatch.setenv("JOBSIGHT_REGISTRY", "~/shared")
    assert Settings.load().registry == tmp_path / "shared"


def test_what_the_site_says_of_asking_its_scheduler_bounds_what_users_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = write(tmp_path / "site.yaml", "machine: {days: 7, all_users: false, every: 60}\n")
    for module in ("configfiles", "settings.loading"):
        monkeypatch.setattr(f"jobsight.{module}.SITE_FILE", site)
    asks = load({"machine": {"days": 30, "all_users": True, "every": 1}}).machine
    assert (asks.days, asks.all_users, asks.every) == (7, False, 60)
    less = load({"machine": {"days": 2, "every": 90}}).machine
    assert (less.days, less.every) == (2, 90)
