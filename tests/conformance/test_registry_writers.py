"""Several writers of one registry at a time, some killed: nothing is torn, lost or forked."""

import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.conformance.registry_writer import tiny_model
from tests.support.limits import PROVE, limit

from jobsight.errors import ModelError
from jobsight.learning.registry import DEFAULT, Registry

WRITERS = 4
ROUNDS = 20 if PROVE else 1
ROOT = Path(__file__).parents[2]


def started(path: Path, seed: int, operations: int) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tests.conformance.registry_writer",
        str(path),
        str(seed),
        str(operations),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def told(process: subprocess.Popen[str]) -> list[tuple[str, ...]]:
    """What a writer said it had done, to its end; a line it was killed in does not count."""
    out, _ = process.communicate(timeout=limit(120))
    return [tuple(line.split()) for line in out.split("\n")[:-1]]


def require_sound(path: Path) -> Registry:
    """Every record follows from the one before, every model opens, and the champion is there."""
    registry = Registry(path)
    records = registry.history("hold")
    champion: str | None = None
    there: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        if record.event == "put":
            assert record.digest not in there
            there[record.digest] = number
            champion = champion or record.digest
        elif record.event == "promoted":
            assert record.digest in there
            champion = record.digest
        else:
            del there[record.digest]
            champion = None if champion == record.digest else champion
        assert record.champion == champion
    entries = registry.entries("hold")
    assert {one.digest: one.number for one in entries} == there
    for entry in entries:
        entry.open()
    found = registry.champion("hold")
    assert (None if found is None else found.digest) == champion
    return registry


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_writers_killed_at_any_moment_leave_a_sound_registry(tmp_path: Path, round_: int) -> None:
    path, draw = tmp_path / "registry", random.Random(round_)
    said: list[tuple[str, ...]] = []
    for kill in range(2):
        seeds = [100 * round_ + 10 * kill + number for number in range(WRITERS)]
        with ThreadPoolExecutor(WRITERS) as pool:
            writers = list(pool.map(lambda seed: started(path, seed, 10_000), seeds))
        for writer in writers:
            time.sleep(draw.uniform(0.05, 0.5))
            writer.send_signal(signal.SIGKILL)
            said += told(writer)
        require_sound(path)
    # What was said to be put or removed is on record. (A champion is not promoted once more.)
    records = {(record.event, record.digest) for record in Registry(path).history("hold")}
    assert {one for one in said if one[0] != "promoted"} <= records
    assert {what for what, _ in records} == {"put", "promoted", "removed"}


def test_writers_that_end_by_themselves_leave_nothing_hidden(tmp_path: Path) -> None:
    path = tmp_path / "registry"
    with ThreadPoolExecutor(WRITERS) as pool:
        said = list(pool.map(lambda seed: told(started(path, seed, 25)), range(WRITERS)))
    registry = require_sound(path)
    assert sum(map(len, said)) > WRITERS
    assert not list(path.rglob(".*"))
    # The models of what was removed are gone, those of the others are all there is.
    models = {one.name for one in (path / "hold" / DEFAULT).iterdir() if one.is_dir()}
    assert models == {one.digest for one in registry.entries("hold")}


def test_of_many_that_promote_over_the_same_champion_one_does(tmp_path: Path) -> None:
    path = tmp_path / "registry"
    registry = Registry(path)
    first, *others = (
        registry.put(tiny_model(tmp_path / str(number), number), "hold") for number in range(9)
    )

    def promoted(digest: str) -> bool:
        mine = Registry(path)
        try:
            mine.promote(mine.find(digest), over=first, why="a race")
        except ModelError as error:
            assert "by now, not" in str(error)
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(promoted, others))
    assert won.count(True) == 1
    champion = require_sound(path).champion("hold")
    assert champion is not None
    assert champion.digest == others[won.index(True)]


def test_readers_see_a_whole_champion_while_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "registry"
    registry = Registry(path)
    digests = [
        registry.put(tiny_model(tmp_path / str(number), number), "hold") for number in range(2)
    ]

    def read(_: int) -> int:
        seen = 0
        for _ in range(40):
            champion = Registry(path).champion("hold")
            assert champion is not None
            champion.open()
            seen += 1
        return seen

    with ThreadPoolExecutor(3) as pool:
        reading = pool.map(read, range(3))
        for number in range(1, 31):
            registry.promote(
                registry.find(digests[number % 2]), over=digests[1 - number % 2], why=""
            )
        assert list(reading) == [40, 40, 40]
