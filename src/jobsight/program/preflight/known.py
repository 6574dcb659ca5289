"""What Slurm, programs and packages do by themselves: sets made of the tables of ``known.toml``."""

from __future__ import annotations

import re

from jobsight.program.known import KNOWN
from jobsight.program.shell.model import Source
from jobsight.text import wordlist, wordset

__all__ = ["ATTACHES", "SET_WITH", "SLURM_SETS", "SPREADS", "STARTS", "starts_tasks"]

SET_WITH: dict[str, tuple[str, ...]] = {
    name: wordlist(options) for name, options in KNOWN["slurm"]["with"].items()
}
"""Variables that Slurm sets only where the job has one of these options."""
SLURM_SETS = SET_WITH.keys() | {
    one for kind in ("always", "sometimes", "site", "step") for one in wordset(KNOWN["slurm"][kind])
}
"""All variables that Slurm, or a plug-in of it at many sites, sets."""
STARTS = frozenset(one for names in KNOWN["starts"].values() for one in wordset(names))
"""Programs that start the tasks of their job themselves."""
SPREADS = STARTS.union(*map(wordset, KNOWN["spreads"].values()))
"""These, and programs that start several processes by options, or hand jobs to the tasks."""
_STARTS_IN = {language: re.compile(form) for language, form in KNOWN["starts_in"].items()}
ATTACHES: dict[str, dict[str, frozenset[str]]] = {
    language: {name: wordset(others) for name, others in packages.items()}
    for language, packages in KNOWN["attaches"].items()
}
"""By language: packages with all that they attach."""


def starts_tasks(language: str | None, source: Source) -> bool:
    """Whether the text of a program starts the tasks of its job."""
    form = _STARTS_IN.get(language or "")
    return form is not None and form.search(source.text) is not None
