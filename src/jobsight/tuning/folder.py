"""The folder of a sweep: its places, what was planned in it, and the data that its runs read.

``FILE.yaml`` has the folder ``FILE.sweep`` next to it, unless the key `folder` names another. Runs
are started in the folder, or in a copy of the part of it that they need.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from jobsight.errors import SweepError
from jobsight.files import new_file, read_json, write_json
from jobsight.learning.asked import question_named
from jobsight.learning.manifest import Source
from jobsight.tuning.config import SweepConfig

__all__ = [
    "SCHEMA",
    "Planned",
    "Sweep",
    "digest_of",
    "kept_sources",
    "read_source",
    "saved",
    "write_source",
]

SCHEMA = "jobsight.sweep/2"


class Planned(msgspec.Struct, frozen=True):
    """What ``sweep.json`` keeps next to the config: facts of the machine that planned.

    Attributes:
        folder: the absolute path that it was planned as.
        registry: folder of the registry that the best model goes into.
        command: how `jobsight` starts on the machine that planned.
        image: container image, resolved; None: runs use `command`.
        inputs: what the history was read from: absolute path or address, size and time of change.
        settings: of Jobsight, by which the data were read.
        versions: of Jobsight and what shapes a result.
    """

    folder: str
    registry: str
    command: list[str]
    image: str | None
    inputs: list[tuple[str, int, float]]
    settings: dict[str, Any]
    versions: dict[str, str]
    schema: str = SCHEMA


@dataclass(frozen=True)
class Sweep:
    """A sweep that was planned.

    Attributes:
        folder: ``.`` within a run.
        config: as it was planned.
        planned: the facts next to it.
    """

    folder: Path
    config: SweepConfig
    planned: Planned

    @classmethod
    def open(cls, folder: Path) -> Sweep:
        """Read what was planned in a folder.

        Raises:
            SweepError: nothing was, it is damaged, or another version of Jobsight wrote it.
        """
        path = folder / "sweep.json"
        data = saved(path, f"{folder} is not a sweep's folder: it has no {path.name}")
        if data.get("schema") != SCHEMA:
            raise SweepError(
                f"{path} has schema {str(data.get('schema'))[:40]!r}, this version reads "
                f"{SCHEMA!r}; use the version that planned it, or plan into another folder"
            )
        try:
            planned = msgspec.convert(data, Planned)
        except msgspec.ValidationError as error:
            raise SweepError(f"{path} is damaged ({error}); plan the sweep again") from None
        return cls(folder, SweepConfig.read(folder / "sweep.yaml"), planned)

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits of what is searched; the same wherever it runs."""
        names = [Path(name).name for name, *_ in self.planned.inputs]
        return digest_of({"config": self.config.searched, "inputs": names})[:8]

    @property
    def name(self) -> str:
        """The folder's name without its suffix."""
        return self.folder.resolve().name.removesuffix(".sweep")

    @property
    def submitted(self) -> Path:
        """Folder of what a scheduler is given and what it writes."""
        return self.folder / "submitted"

    @property
    def best(self) -> Path:
        """Folder of the best model and what is known of it."""
        return self.folder / "best"

    @property
    def report(self) -> Path:
        """The report."""
        return self.folder / "report.html"


def digest_of(value: Any) -> str:
    """SHA-256 of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def saved(path: Path, missing: str) -> dict[str, Any]:
    """What a JSON file of a sweep's folder holds.

    Raises:
        SweepError: it is missing (says `missing`), cannot be read, or is damaged.
    """
    try:
        found: dict[str, Any] = read_json(path, dict)
    except FileNotFoundError:
        raise SweepError(missing) from None
    except OSError as error:
        raise SweepError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise SweepError(f"{path} is damaged ({error}); plan the sweep again") from None
    return found


def write_source(folder: Path, source: Any, reads: str, sources: Sequence[Source]) -> None:
    """Keep what a question is asked of in ``history/``, for all runs.

    Args:
        folder: of the sweep.
        source: an event history, a job table, or a list of programs.
        reads: which of them, see `Question.reads`.
        sources: the files that it was read from.
    """
    import polars as pl

    place = folder / "history"
    place.mkdir(parents=True, exist_ok=True)
    if reads == "programs":
        table = pl.DataFrame({"program": [program.to_json() for program in source]})
    else:
        table = source.packed() if reads == "jobs" else source.table
    with new_file(place / "table.parquet") as temporary:
        table.write_parquet(temporary, compression="lz4")
    write_json(place / "read.json", {"sources": [asdict(item) for item in sources]})


def read_source(folder: Path, question: str) -> Any:
    """What `write_source` kept.

    Raises:
        SweepError: it is missing or damaged.
    """
    import polars as pl

    from jobsight.history.jobtable import JobTable
    from jobsight.history.timelines import History
    from jobsight.program.examples import Example

    path = folder / "history" / "table.parquet"
    try:
        table = pl.read_parquet(path)
    except FileNotFoundError:
        raise SweepError(f"{path} is missing; plan the sweep again") from None
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SweepError(
            f"{path} is damaged ({type(error).__name__}); remove its folder and plan again"
        ) from None
    reads = question_named(question).reads
    if reads == "programs":
        return [Example.from_json(line) for line in table["program"]]
    return JobTable.unpacked(table) if reads == "jobs" else History.from_table(table)


def kept_sources(folder: Path) -> list[Source]:
    """The files that the history was read from, with their hashes, in order.

    Raises:
        SweepError: it was not read.
    """
    path = folder / "history" / "read.json"
    read = saved(path, f"{path} is missing; plan the sweep again")
    return [Source(**item) for item in read["sources"]]
