"""What ShellCheck finds, under its own codes (https://www.shellcheck.net/wiki/).

Only the codes that mean a sure failure, harm, or a result that is not what was meant. The others
are about style, or about names with blanks, which batch scripts do not meet.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jobsight.commands import bounded_child, child_environment, find_tool
from jobsight.program.preflight.findings import Finding
from jobsight.program.preflight.job import Job

__all__ = ["shellcheck_findings", "shellcheck_of"]

_SECONDS = 5.0
_MEANT = {
    2050: re.compile(r"\"([^\"$`]*)\" *={1,2} *\"\1\""),
    2121: re.compile(r"\bshift\b"),
    2155: re.compile(r"^(?!.*\$\((?:\.{0,2}/|python|Rscript|perl|julia|srun|bash)\S*)"),
    2327: re.compile(r"> */dev/null"),
    2328: re.compile(r"> */dev/null"),
}
"""Lines that mean what these find: constants that a configuration filled in, ``set x $y; shift``,
what is declared and runs no program, commands in backquotes for their status alone."""
_NOISE = frozenset({1009, 1072, 1073, 2045, 2068, 2145, 2148, 2173, 2239})
"""Errors of ShellCheck that stop no script, or say what another finding says better."""
_ERRORS = frozenset({1075, 1101, 2051, 2088, 2114, 2121, 2215, 2247})
"""Its warnings that are errors of a job: a command fails, or what is done is surely not meant."""
_WARNINGS = frozenset({
    1132, 1143, 2030, 2031, 2050, 2061, 2069, 2070, 2071, 2077, 2078, 2081, 2089, 2090, 2094, 2097,
    2098, 2099, 2100, 2115, 2124, 2125, 2128, 2140, 2144, 2155, 2157, 2158, 2159, 2163, 2165, 2178,
    2179, 2182, 2183, 2190, 2193, 2194, 2195, 2210, 2213, 2214, 2216, 2217, 2222, 2229, 2238, 2252,
    2259, 2260, 2261, 2262, 2263, 2265, 2266, 2269, 2290, 2320, 2324, 2327,
})  # fmt: skip
"""Its findings, errors among them, with which a script runs: what it does may be meant."""
_DASH = frozenset({
    3001, 3005, 3006, 3008, 3009, 3010, 3011, 3014, 3015, 3018, 3019, 3020, 3024, 3030, 3039, 3044,
    3046, 3051, 3053, 3054, 3057, 3059, 3060,
})  # fmt: skip
"""What dash lacks, of the codes about sh."""


@contextmanager
def shellcheck_of(text: str) -> Iterator[subprocess.Popen[bytes] | None]:
    """ShellCheck, started on a script while the rules work; None: it is not installed."""
    process = _start(text)
    try:
        yield process
    finally:
        if process is not None:
            with process:
                process.kill()


def _start(text: str) -> subprocess.Popen[bytes] | None:
    own = Path(sys.executable).parent
    tool = find_tool("shellcheck", own, ()) or find_tool("shellcheck", None, ())
    if tool is None:
        return None
    words = (tool, "--norc", "--format=json1", "-")
    with tempfile.TemporaryFile() as script:  # a pipe would be filled when the rules are done
        script.write(text.encode("utf-8", "replace"))
        script.seek(0)
        return subprocess.Popen(  # noqa: S603  # the script is read, not run
            words, env=child_environment(), stdin=script, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, preexec_fn=bounded_child(),  # noqa: PLW1509
        )  # fmt: skip


def shellcheck_findings(process: subprocess.Popen[bytes], job: Job, file: str) -> Iterator[Finding]:
    """What ShellCheck says of a shell script.

    Args:
        process: that was started.
        job: the script.
        file: as findings name it.
    """
    try:
        output, _ = process.communicate(timeout=_SECONDS)
        comments = json.loads(output)["comments"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return
    lines = job.text.split("\n")
    strict = any(command.errexit for command in job.commands)
    for one in comments:
        code, sure = one["code"], one["level"] == "error" and (one["code"] >= 2000 or job.broken)
        line = lines[one["line"] - 1] if one["line"] <= len(lines) else ""
        meant = code in _MEANT and _MEANT[code].search(line)
        if meant or (code == 1075 and not job.broken) or (code == 2155 and not strict):
            continue
        sure = sure and code not in _NOISE | _WARNINGS
        error = sure or code in _ERRORS or (job.is_dash and code in _DASH)
        if error or code in _WARNINGS:
            yield Finding(
                file, one["line"], one["column"], "error" if error else "warning", f"SC{code}",
                str(one["message"]),
            )  # fmt: skip
