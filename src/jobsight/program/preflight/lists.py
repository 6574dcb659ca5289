"""Files that are named in lists which a script reads line by line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.traces import path_of, siblings, text_here
from jobsight.program.shell.model import Source
from jobsight.text import one_slip

__all__ = ["named_in_lists"]

_LOOP = re.compile(
    r"(?ms)^[ \t]*while\s+(?:IFS=(\S*)\s+)?read\s+(?:-r\s+)?([\w ]+?)\s*(?:;|\n)\s*do\b(.{0,4000}?)"
    r"^[ \t]*done\s*<\s*[\"']?([\w./-]+)[\"']?[ \t]*(?:#.*)?$"
)
_LINE = re.compile(
    r"(?m)^[ \t]*(\w+)=[\"']?\$\(\s*sed\s+-n\s+[\"']?\$\{?SLURM_ARRAY_TASK_ID\}?[\"']?p[\"']?\s+"
    r"[\"']?([\w./-]+)[\"']?\s*\)[\"']?[ \t]*$"
)
_MARKS = {"$'\\t'": "\t", '$"\\t"': "\t", ",": ",", "','": ",", "';'": ";", "": None}


def named_in_lists(job: Job) -> Iterator[Hit]:
    """Files that are not there, where the folder has one of nearly that name that no line names."""
    if job.language != "bash" or job.blind:
        return
    reads = [(one[4], one[2].split(), _MARKS.get(one[1] or "", "?"), one[3])
             for one in _LOOP.finditer(job.text)]  # fmt: skip
    reads += [(one[2], [one[1]], "\n", job.text[one.end() :]) for one in _LINE.finditer(job.text)]
    folder = next((one.folder for one in reversed(job.commands)), None)
    for file, names, mark, body in reads:
        path, text = path_of(file, folder, job), text_here(file, folder, job)
        if text is None or mark == "?":
            continue
        rows = [(n, one.split(mark, len(names) - 1)) for n, one in enumerate(text.splitlines(), 1)]
        source = Source(os.path.relpath(job.machine.real(path or "")), text)
        for at, name in enumerate(names):
            column = [(n, row[at].strip()) for n, row in rows if len(row) > at]
            yield from _of_column(column, _used_as(name, body), folder, source, job)


def _used_as(name: str, body: str) -> list[tuple[str, str]]:
    """What is put before and behind a variable where it names a file that is not written."""
    if re.search(rf"\s-[efs]\s+\S*\$\{{?{name}\b", body):
        return []
    form = rf"(?m)(?<=\s)[\"']?([\w./-]*)\$(?:{name}\b|\{{{name}\}})([\w./-]*)[\"']?(?=[\s;|)]|$)"
    return [
        (one[1], one[2]) for one in re.finditer(form, body)
        if not re.search(r"(?:>|\s-\w*[efso]|--out\S*|mkdir|touch)\s*$", body[: one.start()])
    ]  # fmt: skip


def _of_column(
    column: list[tuple[int, str]], used: list[tuple[str, str]], folder: str | None,
    source: Source, job: Job,
) -> Iterator[Hit]:  # fmt: skip
    for front, back in dict.fromkeys(used):
        paths = {
            line: path_of(f"{front}{value}{back}", folder, job)
            for line, value in column if re.fullmatch(r"[\w./-]+", value)
        }  # fmt: skip
        there = {one for one in paths.values() if one and job.machine.exists(one)}
        for line, path in paths.items() if there else ():
            if path is None or path in there:
                continue
            own, last = os.path.split(path)
            meant = next(
                (one for one in siblings(job.machine.real(path))
                 if (one.lower() == last.lower() or one_slip(one, last))
                 and f"{own}/{one}" not in there), None,
            )  # fmt: skip
            if meant and "." in last:
                yield hit(line, f"{last} is not there", f"is it {meant}?", source=source)
