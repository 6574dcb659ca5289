"""Batch scripts."""

from __future__ import annotations

from jobsight.program.submission.batchscript import directives, from_sacct

HEAD = f"Batch Script for 7\n{'-' * 80}\n"


def test_the_script_as_the_accounts_kept_it() -> None:
    assert from_sacct(HEAD + "#!/bin/sh\ntrue\n") == "#!/bin/sh\ntrue\n"
    imitation = f"#!/bin/sh\n{HEAD}rm\n"
    assert from_sacct(HEAD + imitation) == imitation
    assert from_sacct(HEAD + "NONE\n") is None
    assert from_sacct("") is None
    assert from_sacct("sacct: error") is None


def test_an_arrays_script_is_printed_once_for_each_task() -> None:
    heads = [f"Batch Script for 7_{task}\n{'-' * 80}\n" for task in range(3)]
    script = "#!/bin/sh\ntrue\n"
    assert (
        str(from_sacct("".join(f"{head}{script}\n" for head in heads))).rstrip() == script.rstrip()
    )
    imitation = f"#!/bin/sh\n{heads[1]}rm\n"
    assert from_sacct(heads[0] + imitation) == imitation


def test_directives_end_where_commands_begin() -> None:
    script = (
        "#!/bin/bash\n#SBATCH --mem=4G  # enough\n\n# a remark\n#SBATCH\t-n 4\n#SBATCHX no\n"
        "##SBATCH no\nset -e\n#SBATCH --too-late\n"
    )
    assert directives(script) == ("--mem=4G", "-n 4")


def test_many_and_long_directives_are_bounded() -> None:
    found = directives("#SBATCH " + "x" * 5000 + "\n" + "#SBATCH -n 1\n" * 1000)
    assert len(found) == 500
    assert len(found[0]) == 2000
