import gzip
import zipfile
from pathlib import Path

import polars as pl
import pytest
from tests.support.small_sweeps import SPACE, write_log

from jobsight.errors import SourceError, SweepError, UsageError
from jobsight.history.events import read_events
from jobsight.learning.sweep.config import SweepConfig
from jobsight.learning.sweep.layout import Frozen, Layout, Shard
from jobsight.learning.sweep.parsing import join_shards, parse_logs
from jobsight.learning.sweep.planning import freeze
from jobsight.learning.sweep.shards import MOST, shards_of

FORMS = Path(__file__).parents[4] / "data/forms"


def cut(base: Path, *data: str, documents: tuple[str, ...] = ()) -> tuple[Shard, ...]:
    return shards_of(
        data,
        base=base,
        are_documents=lambda one: one.endswith(documents or "\0"),
        place="sweep.yaml:1:{}".format,
    )


def frozen(shards: tuple[Shard, ...]) -> Frozen:
    told = {"data": ["x"], "runs": 1, "parameters": SPACE}
    return freeze(SweepConfig.model_validate(told), {"timezone": "UTC"}, shards, base=Path("/"))


def test_files_of_one_rotated_log_stay_together() -> None:
    (one,) = cut(FORMS, "rot/*")
    assert [Path(path).name for path in one.inputs] == [
        *("EventLog", "EventLog.1", "EventLog.2", "EventLog.3", "EventLog.4"),
    ]
    assert len(one.modified) == 5 and one.distinct


def test_large_logs_get_shards_of_their_own_and_many_small_ones_share(tmp_path: Path) -> None:
    for k in range(3):
        path = write_log(tmp_path / f"log{k}", clusters=3, seed=k)
        with path.open("r+b") as file:  # sparse, so that only its size is large
            file.truncate(80 << 20)
    for k in range(40):
        write_log(tmp_path / f"small{k:02d}", clusters=2, seed=k)
    assert [len(one.inputs) for one in cut(tmp_path, "log*", "small*")] == [1, 1, 1, 40]
    assert len(cut(tmp_path, "small*")) == 1 < MOST


def test_tables_of_shards_are_the_table_of_all_logs(tmp_path: Path) -> None:
    for k, name in enumerate(("a", "b")):
        write_log(tmp_path / name, clusters=10, seed=k)
    with gzip.open(tmp_path / "c.gz", "wb") as packed:
        packed.write(write_log(tmp_path / "c", clusters=5, seed=7).read_bytes())
    logs = [str(tmp_path / name) for name in ("a", "b", "c.gz")]
    shards = tuple(
        Shard(f"s{k}", cut(tmp_path, log)[0].inputs, modified=(1.0,)) for k, log in enumerate(logs)
    )
    layout = Layout(tmp_path / "sweep")
    whole = frozen(shards)
    for one in shards:
        parse_logs(one, whole, layout, here=True)
    expected = read_events(logs, timezone="UTC").table
    assert join_shards(whole, layout).table.equals(expected)


def test_a_copy_is_parsed_to_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = FORMS / "legacy/EventLog"  # which tells no years
    (shard,) = cut(FORMS, str(log))
    there, elsewhere = Layout(tmp_path / "there"), Layout(tmp_path / "elsewhere")
    parse_logs(shard, frozen((shard,)), there, here=True)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch/EventLog").write_bytes(log.read_bytes())
    monkeypatch.chdir(tmp_path / "scratch")
    parse_logs(shard, frozen((shard,)), elsewhere, here=False)
    assert pl.read_parquet(there.table("s01")).equals(pl.read_parquet(elsewhere.table("s01")))
    assert there.read("s01").read_bytes() == elsewhere.read("s01").read_bytes()


def test_stores_come_behind_the_logs(tmp_path: Path) -> None:
    write_log(tmp_path / "a", clusters=2)
    shards = cut(tmp_path, "redis://host/1", "a", documents=("/1",))
    assert [(one.inputs, one.documents) for one in shards] == [
        ((str(tmp_path / "a"),), False),
        (("redis://host/1",), True),
    ]
    file = f"sqlite://{tmp_path}/a@b.db"
    assert cut(tmp_path, file, documents=(".db",))[0].inputs == (file,)
    with pytest.raises(SweepError, match="~no-such-user/log: there is no such home folder"):
        cut(tmp_path, "~no-such-user/log")
    with pytest.raises(UsageError, match="standard input"):
        cut(tmp_path, "-")
    with pytest.raises(SourceError, match=r"^sweep.yaml:1:1: there is no file"):
        cut(tmp_path, "a", "none")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "a", "a")
    with pytest.raises(SourceError, match=r"unpack .*a.zip' and name the folder"):
        cut(tmp_path, "a.zip")


@pytest.mark.parametrize(
    "address",
    [
        "redis://:letmein@host/1",
        "redis://:let/me/in@host/1",
        "redis://:let#me@host/1",
        "redis://:let?me@host/1",
        "redis://host/1?password=letmein",
        "unix://user:letmein@/run/redis/1",
        "redis://[letmein@host/1",
    ],
)
def test_an_address_with_a_password_is_not_written_down(tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="JOBSIGHT_STORE_PASSWORD") as caught:
        cut(tmp_path, address, documents=("1", "letmein"))
    assert "let" not in str(caught.value)


def test_damaged_tables_are_one_error(tmp_path: Path) -> None:
    layout, shard = Layout(tmp_path), Shard("s01", ("/x",), modified=(0.0,))
    with pytest.raises(SweepError, match="was not parsed"):
        join_shards(frozen((shard,)), layout)
    layout.shard("s01").mkdir(parents=True)
    layout.table("s01").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(SweepError, match="is damaged"):
        join_shards(frozen((shard,)), layout)


def test_a_log_without_events_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("")
    (shard,) = cut(tmp_path, "empty")
    with pytest.raises(SourceError, match="no event record"):
        parse_logs(shard, frozen((shard,)), Layout(tmp_path / "sweep"), here=True)
