"""The event log as it was written, kept aside by hard links and read by no reader of Jobsight."""

import contextlib
import os
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

__all__ = ["Record", "Segment", "Segments"]

_RECORD = re.compile(rb"(\d{3}) \((-?\d+)\.(-?\d+)\.(-?\d+)\) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) ")
_HEADER = re.compile(
    rb"Global JobLog: ctime=\d+ id=\S*?(\d+)\.(\d+) sequence=(\d+) .*? offset=(\d+)"
)
_END = b"\n...\n"


@dataclass(frozen=True)
class Record:
    """One record: number of the event, seconds since 1970, and its whole text."""

    code: int
    time: int
    text: str


@dataclass(frozen=True)
class Segment:
    """One file of the log.

    Attributes:
        begun: µs since 1970, as its id tells.
        sequence: its number.
        offset: bytes before it, as its header tells (a rotated file may have grown a little since).
        data: its bytes.
    """

    begun: int
    sequence: int
    offset: int
    data: bytes

    def ends(self) -> list[tuple[int, int]]:
        """Where each record begins and ends, its separator included."""
        places, start = [], 0
        while (end := self.data.find(_END, start)) >= 0:
            places.append((start, end + len(_END)))
            start = end + len(_END)
        return places

    def jobs(self) -> dict[str, list[Record]]:
        """Its records, by job (`12.0`), in order."""
        found: dict[str, list[Record]] = defaultdict(list)
        for part in self.data.split(_END)[:-1]:
            head = _RECORD.match(part)
            assert head is not None, f"no record: {part[:200]!r}"
            code, cluster, proc = (int(head[number]) for number in (1, 2, 3))
            moment = time.strptime(head[5].decode(), "%Y-%m-%d %H:%M:%S")
            if cluster >= 0:
                text = part.decode(errors="replace")
                found[f"{cluster}.{proc}"].append(Record(code, int(time.mktime(moment)), text))
        return found


class Segments:
    """Links every file that ever bears the log's name into a folder of the same file system.

    Args:
        log: the event log; its rotated files lie beside it.
        aside: an empty folder.
    """

    def __init__(self, log: Path, aside: Path) -> None:
        self._log, self._aside = log, aside
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._lock = threading.Lock()
        aside.mkdir()

    def __enter__(self) -> "Segments":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        # Two rotations between two looks lose a file, also where the machine is busy.
        with contextlib.suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        while not self._stop.wait(0.005):
            self._look(self._log)
            self._look(self._log.with_name(self._log.name + ".1"))

    def _look(self, path: Path) -> None:
        with self._lock:
            self._link(path)

    def _link(self, path: Path) -> None:
        fresh = self._aside / "fresh"
        try:
            os.link(path, fresh)
        except FileNotFoundError:
            return  # between two renames
        # Which file was linked is known only now: rotation may rename it at any moment.
        kept = self._aside / str(fresh.stat().st_ino)
        fresh.rename(kept)
        fresh.unlink(missing_ok=True)  # two links of one file: the rename did nothing

    def read(self) -> list[Segment]:
        """All files, in the order in which they were written; none may be missing."""
        for path in self._log.parent.iterdir():
            self._look(path)
        found = sorted(self._segments(), key=lambda one: one.begun)
        for before, after in pairwise(found):
            # Two that rotate at once may make HTCondor count anew; else nothing lies between.
            assert after.sequence in (1, before.sequence + 1), (
                f"the test lost files between {before.sequence} and {after.sequence}"
            )
        return found

    def _segments(self) -> Iterator[Segment]:
        with self._lock:
            files = [path.read_bytes() for path in self._aside.iterdir()]
        for data in files:
            if not data:
                continue  # made this moment
            header = _HEADER.search(data[:400])
            assert header is not None, f"no header: {data[:200]!r}"
            begun = int(header[1]) * 1_000_000 + int(header[2])
            yield Segment(begun, int(header[3]), int(header[4]), data)

    def jobs(self) -> dict[str, list[Record]]:
        """All records, by job, in order."""
        return self.jobs_of(self.read())

    @staticmethod
    def jobs_of(segments: Iterable[Segment]) -> dict[str, list[Record]]:
        """All records of these files, by job, in order."""
        found: dict[str, list[Record]] = defaultdict(list)
        for segment in segments:
            for job, records in segment.jobs().items():
                found[job] += records
        return found
