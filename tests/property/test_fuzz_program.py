"""Scripts, submit files and DAG files, fuzzed: any text is checked or refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings
from tests.support.limits import PROVE

from jobsight.errors import SourceError
from jobsight.program.preflight.check import Checker
from jobsight.program.submission.condor import read_condor, split_arguments
from jobsight.program.submission.dag import cycle_of, read_dag
from jobsight.program.submission.sbatch import read_sbatch

FUZZ = settings(
    max_examples=2000 if PROVE else 60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
SHELL = (
    "#!/bin/bash\n~#SBATCH ~--mem=4G~--array=1-9~\n"
    "~if ~then ~fi~for x in ~do ~"
    "done~$(~)~${X:-~}~\"~'~<<EOF\n~EOF\n~cat ~> ~out.txt~rm -rf "
    "~$X/~python3 -c ~import os~srun -n ~[ $X = 1 ]~((x++))"
    "~& ~&& ~|| ~|~source ~./a.sh~exec ~set -eu\n~exit 3~case ~esac~;;~\\\n~\r\n~é"
)
OPTIONS = "--mem~-~--~=~1G~-N~-n4~--array~0-9%2~--time~1-~\"~'~\\~ ~"
CONDOR = (
    "executable = ~queue ~queue x from (\n~)\n~in ~matching ~$(x)~$(y:1)~if defined x\n"
    "~else\n~endif\n"
    '~include : ~arguments = "a \'b~"~\n~\\\n~output = o.$(Process)\n~+A = 1\n~x @=e\n~@e\n~a, b'
    "~= ~request_memory = 4GB\n~transfer_input_files = "
)
DAG = (
    "JOB a a.sub\n~JOB b ~PARENT a CHILD b\n~PARENT b CHILD a\n~SCRIPT PRE a ~RETRY a 3\n~VARS a ~"
    'x="1"'
    "\n~SPLICE s s.dag\n~SUBDAG EXTERNAL ~INCLUDE ~\n~{\n~}\n~DIR ~#"
)


def texts(words: str) -> st.SearchStrategy[str]:
    pieces = st.one_of(st.sampled_from(words.split("~")), st.text(max_size=4))
    return st.lists(pieces, max_size=40).map("".join)


@FUZZ
@given(texts(SHELL), st.lists(texts(OPTIONS), max_size=6))
@example("", [""])
def test_batch_scripts(text: str, options: list[str]) -> None:
    for one in read_sbatch(text, options).problems:
        assert one.place.line >= 1 and one.message


@FUZZ
@given(texts(CONDOR))
def test_submit_files(text: str) -> None:
    found = read_condor(text, lambda name: text if name == "x" else None)
    assert all(one.jobs is None or one.jobs >= 0 for one in found.queues)
    split_arguments(text)


@FUZZ
@given(texts(DAG))
def test_dag_files(text: str) -> None:
    dag = read_dag(text)
    found = cycle_of(dag)
    assert found is None or found[0][0] == found[0][-1]


@pytest.mark.parametrize(("name", "words"), [("a.sh", SHELL), ("a.sub", CONDOR), ("a.dag", DAG)])
def test_any_text_is_checked(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    @FUZZ
    @given(texts(words))
    def check(text: str) -> None:
        Path(name).write_bytes(text.encode("utf-8", "surrogateescape"))
        with contextlib.suppress(SourceError):
            for one in Checker().check(name).findings:
                assert one.line >= 1 and one.column >= 1 and one.message.isprintable()

    check()
