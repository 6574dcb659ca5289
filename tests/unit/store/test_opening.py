"""Which store an address means."""

from pathlib import Path

import pytest

from jobsight.documents import JobDocument
from jobsight.errors import StoreError, StoreUnavailableError, UsageError
from jobsight.settings import StoreSettings
from jobsight.store import Store, open_store
from jobsight.store.redisserver import without_secrets


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    whole = tmp_path / "with blank.db"
    for url, path in (
        (str(whole), whole),
        (f"sqlite://{tmp_path}/with%20blank.db", whole),
        ("here.db", tmp_path / "here.db"),
        ("~/deep/er/there.db", tmp_path / "deep/er/there.db"),
        ("odd:name?x=1#y.db", tmp_path / "odd:name?x=1#y.db"),
    ):
        with open_store(url, create=True) as store:
            assert isinstance(store, Store)
            assert path.is_file()
            assert store.check().problems == 0


@pytest.mark.parametrize("form", ["{}", "sqlite://{}", "sqlite:///{}", "/{}"])
def test_a_file_is_addressed_by_its_path_however_many_slashes(tmp_path: Path, form: str) -> None:
    file = tmp_path / "jobs.db"
    with open_store(form.format(file), create=True) as store:
        store.merge([JobDocument(id="slurm:c:1", updated=1)])
    with open_store(str(file)) as store:
        assert [document.id for document in store.scan()] == ["slurm:c:1"]


def test_the_settings_name_it(tmp_path: Path) -> None:
    settings = StoreSettings(url=str(tmp_path / "a.db"))
    open_store(settings=settings, create=True).close()
    open_store(settings=settings).close()
    assert (tmp_path / "a.db").is_file()


def test_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no store at .*jobsight collect"):
        open_store(str(tmp_path / "none.db"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["", " ", "a\0b", "sqlite:x.db", "sqlite://host/x", "mysql://h/"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(UsageError):
        open_store(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://ada:s3cret@host:6379/2?db=1&password=s3cret", "redis://host:6379/2"),
        ("rediss://:s3cret@[::1]:1/", "rediss://[::1]:1/"),
        ("unix://ada:s3cret@/run/redis.sock?password=s3cret", "unix:///run/redis.sock"),
        ("redis://:s3/cret@host", "redis://…"),
        ("redis://:12/s3cret@host", "redis://…"),
        ("redis://:s3#cret@host", "redis://…"),
        ("redis://[s3cret", "redis://…"),
    ],
)
def test_secrets_are_not_shown(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


def test_a_server_that_is_not_there() -> None:
    settings = StoreSettings(busy_timeout_s=0.5)
    for url in ("redis://:s3cret@127.0.0.1:1/0", "unix://:s3cret@/nowhere/redis.sock"):
        with pytest.raises(StoreUnavailableError, match="cannot be reached") as told:
            open_store(url, settings=settings)
        assert "s3cret" not in str(told.value)
    for url in (
        "redis://:s3/cret@host", "redis://h:x/0", "redis://h/0?db=cret",
        "rediss://h/0?ssl_cert_reqs=cret", "redis://h/0?decode_responses=cret", "redis://h/0?cret",
        "redis://h/0?encoding=cret&socket_timeout=1", "redis://:12?cret@h/0",
    ):  # fmt: skip
        with pytest.raises(UsageError, match="cannot be understood") as odd:
            open_store(url, settings=settings)
        assert "cret" not in str(odd.value)
