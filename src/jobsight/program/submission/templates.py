"""Templates of scripts, submit files and DAGs: texts with places that a program fills in later.

Of any engine: Jinja, Mustache, ERB, Mako, CMake and autoconf (``@NAME@``), Python's ``str.format``
and ``string.Template``, envsubst, Nextflow, or a plain search for a word (``WALLTIME``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["ENDINGS", "placeholder_line"]

ENDINGS = frozenset(
    {".in", ".tmpl", ".tpl", ".template", ".j2", ".jinja", ".jinja2", ".mustache", ".hbs", ".erb",
     ".mako", ".tera", ".ejs"}
)  # fmt: skip
"""Endings of the names of templates."""
_ANYWHERE = re.compile(
    r"\{%-?\s*(?:if|for|set|block|extends|include|macro|import)\b"
    r"|\{\{[#^/]?\s*[\w.]+\s*(?:\|[^}]*)?\}\}|<%[=-]?\s*\w[^%]*%>"
)
_VALUE = (
    r"(?<!\$)\{[A-Za-z_][\w.]*(?::[^{}]*)?\}|(?<!\$)\{\d\}|@\w+@|%[A-Z][A-Z_]{2,}%(?!\w)|%\(\w+\)[sdif]"
    r"|<[A-Za-z][\w. -]*>|\[\[\s*\w+\s*\]\]|__[A-Z]\w*[A-Z]__"
)
_DOLLAR = r"|\$\{?[A-Za-z_]\w*"
_CAPITALS = re.compile(
    r"\s(?:--(?:time|nodes|ntasks|ntasks-per-node|cpus-per-task|mem|mem-per-cpu|array)[=\s]|-[tNnca]\s*)"
    r"(?!(?:UNLIM|INFIN))_*[A-Z][A-Z_]{2,}\b(?!\w)"
)
"""A word where a number is needed."""
_COMMENT = re.compile(r"\s#.*|--comment[= ](?:\"[^\"]*\"|'[^']*'|\S+)")
_BARE = r"|(?<!\$)\$\{?[A-Z][A-Z_]+\b(?!\()"
"""A variable of the shell, which no submit file has."""
_DIRECTIVE = re.compile(r"#SBATCH\s")
_SUBMIT = re.compile(
    r"(?i)\s*(?:executable|universe|request_\w+|output|error|log|initialdir|\w+_image|transfer_input_files"
    r"|batch_name|jobbatchname)\s*=|\s*queue\b|\s*(?:JOB|PARENT|RETRY|SUBDAG|SPLICE)\s|\$\{?\w+\}?\s*$"
)
"""Lines of submit files and DAGs whose values are seldom anything but names and numbers."""


def placeholder_line(
    lines: Iterable[tuple[int, str]], name: str, *, script: bool = True
) -> int | None:
    """The number of the first line with a place to be filled in; None: it is no template.

    Args:
        lines: with their numbers, without those of here-documents.
        name: of the file: ``job.sh.in`` may have such places in any line, and variables in
            directives.
        script: not a submit file or a DAG.
    """
    kept = list(lines)
    named = "." + name.rpartition(".")[2].lower() in ENDINGS or "template" in name.lower()
    doubled = any(re.search(r"(?<!\$)\$\$[A-Za-z_{]", line) for _, line in kept)
    value = re.compile(_VALUE + (_DOLLAR if named or doubled else ""))
    for number, line in kept:
        if _ANYWHERE.search(line):
            return number
        if script and _DIRECTIVE.match(line):
            text = _COMMENT.sub("", line)
            if value.search(text) or _CAPITALS.search(text):
                return number
        elif not script and _SUBMIT.match(line):
            if re.search(_VALUE + _BARE, line):
                return number
        elif named and re.search(r"@[A-Za-z]\w*@", line):
            return number
    return None
