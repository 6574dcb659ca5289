"""``jobsight why``: what an output file says of why its job failed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from jobsight.cli.common import JsonOption
from jobsight.cli.output import print_json, report_problems, say
from jobsight.cli.terminal import field, paint
from jobsight.errors import UsageError
from jobsight.history.causes.cause import KINDS
from jobsight.history.causes.search import MOST, Found, read_end, search
from jobsight.text import printable

__all__ = ["NOTHING", "as_json", "lines", "why"]

NOTHING = "no failure found"
_INDENT = 9
_QUOTED = 300


def lines(found: Found) -> Iterator[str]:
    """What was found, in lines: the cause, the line that says so, and what to do."""
    sure = "" if found.cause.sure else "most likely: "
    yield field("cause", sure + found.cause.text, _INDENT)
    yield field("line", f"{found.line}: {printable(found.quoted.strip(), _QUOTED)}", _INDENT)
    yield field("do", found.cause.fix, _INDENT)
    if found.cause.whose != "user":
        who = "its administrators" if found.cause.whose == "site" else "you or its administrators"
        yield field("who", f"{who} can change that", _INDENT)


def as_json(found: Found | None) -> dict[str, Any] | None:
    """What was found, for machines; None where nothing was."""
    if found is None:
        return None
    cause = found.cause
    return {
        "cause": cause.name, "kind": cause.kind, "text": cause.text, "fix": cause.fix,
        "whose": cause.whose, "sure": cause.sure, "line": found.line, "quoted": found.quoted,
    }  # fmt: skip


def why(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Output files of jobs; - is standard input.",
                       show_default=False),
    ],
    json: JsonOption = False,
) -> None:  # fmt: skip
    """Why did it fail? The cause that an output file names, its line, and what to do."""
    answers: list[dict[str, Any]] = []
    problems: list[str] = []
    for position, path in enumerate(paths):
        try:
            found = search(sys.stdin.read(MOST)) if path == "-" else search(*read_end(path))
        except UsageError as error:
            hint = "; jobsight job ID says why a job failed" if path[:1].isdigit() else ""
            problems.append(f"{error}{hint}")
            continue
        answers.append({"file": path, "found": as_json(found)})
        if json:
            continue
        if position:
            say("")
        title = NOTHING if found is None else KINDS[found.cause.kind]
        colour = "32" if found is None else "31"
        say(f"{printable(path, 200)}: {paint(title, f'1;{colour}')}")
        if found is not None:
            say("\n".join(lines(found)))
    if json:
        print_json(answers)
    report_problems(problems)
