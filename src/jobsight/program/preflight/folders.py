"""JS117: files that are looked for in a folder that was only just made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.program.preflight.job import Job
from jobsight.program.preflight.uses import BUILDS, HARMLESS, uses_of
from jobsight.program.shell.model import Word

__all__: list[str] = []


@rule("JS117 A file is looked for in a new folder, where it is not")
def _in_new_folders(job: Job) -> Iterator[Hit]:
    """It is in the folder of the submission, and nothing was copied to the one that is entered."""
    made: set[str] = set()
    inside, written = False, set[str]()
    for command in job.commands if job.is_slurm and not job.blind else ():
        name = command.bare
        program = job.program_of.get(id(command))
        reads = [one.word for one in uses_of(command) if one.kind == "read"]
        for word in reads if not command.conditional else ():
            bare = re.fullmatch(r"\$(\w+)/([\w./-]+)", _bare(word))
            there = bare and job.machine.exists(f"{job.folder}/{bare[2]}")
            if bare and there and _unused(bare[1], word, job):
                yield hit(word, f"{bare[2]} is in the folder of the submission, not in ${bare[1]}",
                          source=command.source)  # fmt: skip
        if name == "mkdir":
            made |= {_bare(one) for one in command.arguments}
        elif name in ("cd", "pushd"):
            inside = bool(command.arguments) and _is_new(command.arguments[0], made, job)
        elif name in BUILDS or name in ("popd", "source", ".") or command.contained:
            return
        if not inside or command.folder is not None or command.conditional:
            continue
        reads += [program.word] if program and program.word else []
        for word in reads:
            value = word.value or ""
            plain = re.fullmatch(r"(?!\.\./|/|-)[\w./-]+", value) and value not in written
            if plain and job.machine.exists(f"{job.folder}/{value}"):
                yield hit(word, f"{value} is in the folder of the submission, not in this one",
                          f'"$SLURM_SUBMIT_DIR/{value}"', source=command.source)  # fmt: skip
        written |= {one.word.value or "" for one in uses_of(command) if one.kind == "write"}
        if program is not None or (name not in HARMLESS and command.words):
            return


def _unused(name: str, word: Word, job: Job) -> bool:
    """Whether a variable is a new folder, and nothing before may have put a file there."""
    before = "\n".join(job.text.split("\n")[: word.place.line - 1])
    made = re.findall(rf"(?m)^[ \t]*(?:export\s+)?{name}=.*", before)
    used = re.sub(r"(?m)^[ \t]*(?:mkdir|trap|echo)\b.*", "", before)
    fresh = len(made) == 1 and "$(mktemp -d" in made[0]
    return fresh and not re.search(rf"\$\{{?{name}\b|\b(?:source|export|eval)\b", used)


def _bare(word: Word) -> str:
    return word.text.replace('"', "").strip("'").replace("{", "").replace("}", "").rstrip("/")


def _is_new(word: Word, made: set[str], job: Job) -> bool:
    """Whether a folder of unknown name is empty when it is entered."""
    bare = _bare(word)
    if word.value is not None or not bare.startswith("$"):
        return word.value is None and bare in made
    temporary = rf"\b{re.escape(bare[1:])}=[\"']?\$\(mktemp -d"
    return bare in made or bare in ("$TMPDIR", "$SLURM_TMPDIR") or bool(
        re.search(temporary, job.text)
    )  # fmt: skip
