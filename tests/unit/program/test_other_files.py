"""What is found only by reading several files of a job together, and what is not known then."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.program.checking import found, written

from jobsight.program.machine import Machine
from jobsight.program.preflight.check import Checker

SLURM = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n"
CONDOR = "should_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nqueue\n"


_TABLE = """import argparse, csv, json
def rows(path):
    with open(path) as fh:
        for row in csv.DictReader(fh):
            yield float(row["{column}"])
def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config")
    p.add_argument("table")
    a = p.parse_args()
    with open(a.config) as fh:
        cfg = json.load(fh)
    for site, one in cfg["sites"].items():
        print(site, cfg["sites"][site]["{key}"])
    print(sum(rows(a.table)))
main()
"""


@pytest.mark.parametrize(
    ("column", "key", "lines"),
    [("temp", "depth", []), ("temperature", "depth", [5]), ("temp", "deep", [14])],
)
def test_data_files_are_followed_from_the_arguments(
    column: str, key: str, lines: list[int]
) -> None:
    program = _TABLE.replace("{column}", column).replace("{key}", key)
    text = f"{SLURM}python3 a.py --config c.json t.csv\n=== a.py\n{program}"
    text += '=== c.json\n{"sites": {"x": {"depth": 1}}}\n=== t.csv\nid,temp\n1,2\n'
    assert found(text) == [("a.py", line, "JS339") for line in lines]


def test_a_table_that_the_job_makes_is_not_known() -> None:
    program = _TABLE.replace("{column}", "other").replace("{key}", "depth")
    text = f"{SLURM}set -e\n./make_table t.csv\npython3 a.py --config c.json t.csv\n=== a.py\n"
    text += f'{program}=== c.json\n{{"sites": {{"x": {{"depth": 1}}}}}}\n=== t.csv\nid,temp\n1,2\n'
    assert ("a.py", 5, "JS339") not in found(text)


def test_functions_of_modules_on_the_path() -> None:
    main = "from tool import scale, area\nxs = [1, 2]\nxs = scale(xs)\nprint(len(xs), area(3))\n"
    module = "def scale(xs):\n    if not xs:\n        raise ValueError\n    ys = xs * 2\n"
    module += "def area(x, y):\n    return x * y\n"
    text = f"{SLURM}export PYTHONPATH=$PWD/lib\npython3 a.py\n=== a.py\n{main}=== lib/tool.py\n"
    expected = [("a.py", 4, "JS359"), ("a.py", 4, "JS331"), ("lib/tool.py", 1, "JS359")]
    assert found(text + module) == expected


@pytest.mark.parametrize(
    ("call", "program", "wrong"),
    [
        ("perl a.pl --type x", "use Getopt::Long;\nGetOptions('kind=s' => \\$k) or die;\n", True),
        ("perl a.pl --ki x", "use Getopt::Long;\nGetOptions('kind=s' => \\$k) or die;\n", False),
    ],
)
def test_options_of_programs_in_other_languages(call: str, program: str, wrong: bool) -> None:
    name = call.split()[1]
    codes = [code for _, _, code in found(f"{SLURM}{call}\n=== {name}\n{program}")]
    assert codes == (["JS335"] if wrong else [])


_DAG = "JOB a a.sub\nJOB b b.sub\n=== a.sub\nexecutable = a.sh\n{back}" + CONDOR
_DAG += "=== a.sh\n#!/bin/sh\nseq 9 > $HOSTNAME.txt\n=== b.sub\nexecutable = b.sh\n"
_DAG += "transfer_input_files = x.txt\n" + CONDOR + "=== b.sh\n#!/bin/sh\ncat x.txt\n"


@pytest.mark.parametrize(
    ("links", "back", "expected"),
    [
        ("PARENT a CHILD b\n", "", []),
        ("PARENT a CHILD b\n", "transfer_output_files = x.txt\n", []),
        ("PARENT a CHILD b\n", "transfer_output_files = y.txt\n", [("b.sub", 2, "JS403")]),
        ("", "transfer_output_files = x.txt\n", [("d.dag", 2, "JS426"), ("b.sub", 2, "JS403")]),
    ],
)
def test_a_node_of_a_dag_gets_what_those_before_it_make(
    links: str, back: str, expected: list[tuple[str, int, str]]
) -> None:
    assert found(links + _DAG.replace("{back}", back), "d.dag") == expected


def test_a_node_in_the_folder_of_its_dag_makes_what_it_lists() -> None:
    text = "JOB a a.sub\n=== a.sub\nexecutable = a.sh\ntransfer_output_files = x.txt\n"
    text += "output = a.out\nerror = a.err\nlog = a.log\nrequest_memory = 64MB\nqueue\n"
    text += "=== a.sh\n#!/bin/sh\nseq 9 > x.txt\n"
    assert found(text, "d.dag") == []
    text = text.replace("a.log", "logs/a.log")
    assert found(text, "e.dag") == [("a.sub", 5, "JS413")]
    assert found(f"SCRIPT PRE a /bin/mkdir -p logs\n{text}", "f.dag") == []


@pytest.mark.parametrize(("name", "wrong"), [("$1", True), ('$(basename "$1")', False)])
def test_a_transferred_file_loses_its_folder(name: str, wrong: bool) -> None:
    text = f"executable = a.sh\narguments = in/a.txt\ntransfer_input_files = in/a.txt\n{CONDOR}"
    codes = [code for *_, code in found(f"{text}=== a.sh\ncat {name}\n=== in/a.txt\n1\n", "a.sub")]
    assert ("JS412" in codes) == wrong


def test_macros_of_a_list_are_filled_in_before_it_is_split() -> None:
    text = "months = 01 02\nexecutable = /bin/cat\ntransfer_executable = false\n"
    text += "transfer_input_files = $(m).txt\narguments = $(m).txt\n"
    text += CONDOR.replace("queue\n", "queue m in $(months)\n") + "=== 01.txt\n1\n=== 02.txt\n1\n"
    assert "JS403" not in {code for *_, code in found(text, "a.sub")}


def test_what_a_submit_file_gives_its_executable() -> None:
    script = '#!/bin/bash\nset -eu\necho "$MODE"\ncat in/a.txt\n'
    text = "executable = run.sh\nenvironment = \"MODE='a b' N=1\"\npreserve_relative_paths = true\n"
    text += f"transfer_input_files = in/a.txt\n{CONDOR}=== run.sh\n{script}=== in/a.txt\n1\n"
    assert found(text, "a.sub") == []
    assert found(text.replace("MODE=", "MODUS="), "a.sub") == [("run.sh", 3, "JS314")]


def test_an_interpreter_that_is_the_executable() -> None:
    text = "executable = /usr/bin/python3\ntransfer_executable = false\narguments = a.py\n"
    text += f"transfer_input_files = a.py\n{CONDOR}=== a.py\nprint(undefined)\n"
    assert found(text, "a.sub") == [("a.py", 1, "JS318")]


def test_a_slice_of_a_list() -> None:
    text = "executable = /bin/cat\ntransfer_executable = false\ninput = $(name).txt\n"
    text += "output = $(name).out\n"
    text += CONDOR.replace("queue\n", "queue name from [0:1] names.txt\n")
    assert found(f"{text}=== names.txt\na\nb\n=== a.txt\n1\n", "a.sub") == []


_MAKE = "all: build/heat\nbuild/heat: heat.c\n\tmkdir -p build\n\tgcc -o build/heat heat.c\n"


@pytest.mark.parametrize(
    ("run", "header", "wrong"),
    [
        ("./build/heat", "heat.h", []),
        ("./bin/heat", "heat.h", [("job.sh", 5, "JS102")]),
        ("./build/heat", "head.h", [("heat.c", 1, "JS110")]),
    ],
)
def test_what_make_makes(run: str, header: str, wrong: list[tuple[str, int, str]]) -> None:
    text = f"{SLURM}set -e\nmake\n{run}\n=== Makefile\n{_MAKE}=== heat.h\nint n;\n"
    assert (
        found(f'{text}=== heat.c\n#include "{header}"\nint main(void) {{ return 0; }}\n') == wrong
    )


def test_files_next_to_the_program() -> None:
    program = "from pathlib import Path\nHERE = Path(__file__).resolve().parent\n"
    program += 'print(open(HERE / "params" / "priors.json").read())\n'
    text = f"{SLURM}python3 sub/a.py\n=== sub/params/prior.json\n{{}}\n=== sub/a.py\n{program}"
    assert found(text) == [("sub/a.py", 3, "JS109")]
    assert found(text.replace("prior.json", "priors.json")) == []


def test_a_row_that_does_not_fit_its_list_is_at_fault() -> None:
    text = "executable = a.sh\narguments = $(x) $(y)\noutput = $(x).out\n"
    text += f"{CONDOR.replace('queue', 'queue x, y from rows.txt')}=== a.sh\n#!/bin/sh\necho $1\n"
    assert found(f"{text}=== rows.txt\n1, 2\n3\n", "a.sub") == [("rows.txt", 2, "JS405")]
    assert found(f"{text}=== rows.txt\n1\n3\n", "b.sub") == [("b.sub", 6, "JS405")]


@pytest.mark.parametrize(("code", "wrong"), [(1, [("a.sub", 2, "JS408")]), (0, []), (3, [])])
def test_the_exit_code_of_success_is_one_that_the_program_has(
    code: int, wrong: list[tuple[str, int, str]]
) -> None:
    text = f"executable = a.py\nsuccess_exit_code = {code}\nmax_retries = 3\n{CONDOR}"
    text += "=== a.py\n#!/usr/bin/env python3\nimport sys\nif sys.argv[1:]:\n"
    text += "    sys.exit(3)\nsys.exit(0)\n"
    assert found(text, "a.sub") == wrong


@pytest.mark.parametrize(("name", "wrong"), [("merged.tsv", []), ("merge.tsv", ["JS403"])])
def test_what_a_node_writes_without_a_list(name: str, wrong: list[str]) -> None:
    text = "JOB a a.sub\nJOB b b.sub\nPARENT a CHILD b\n=== a.sub\nexecutable = a.sh\n"
    text += f"{CONDOR}=== a.sh\n#!/bin/sh\necho 1 > merged.tsv\n=== b.sub\nexecutable = b.sh\n"
    text += f"transfer_input_files = {name}\n{CONDOR}=== b.sh\n#!/bin/sh\ncat *.tsv\n"
    assert [code for _, _, code in found(text, "a.dag")] == wrong


def test_a_program_that_knows_its_task_names_its_own_file() -> None:
    text = f"{SLURM}#SBATCH --array=0-7 -o %a.out\npython3 a.py --out run.csv\n=== a.py\n"
    program = "import os, sys\nopen(sys.argv[2] + {}, 'w').write('1')\n"
    own = text + program.format("os.environ['SLURM_ARRAY_TASK_ID']")
    assert found(own) == []
    assert ("job.sh", 4, "JS304") in found(text + program.format("'.txt'"))


def test_a_file_that_may_not_be_written() -> None:
    text = f"{SLURM}set -e\nmkdir -p out\nsort a.txt >> out/b.txt\n=== a.txt\n1\n=== out/b.txt\n"
    written(Path(), "job.sh", text)
    Path("out/b.txt").chmod(0o444)
    allowed = os.access("out/b.txt", os.W_OK)  # root may
    findings = Checker(shellcheck=False).check("job.sh").findings
    assert [(one.line, one.code) for one in findings] == ([] if allowed else [(5, "JS108")])
    Path("out/b.txt").chmod(0o644)
    assert Checker(shellcheck=False).check("job.sh").findings == ()


@pytest.mark.parametrize(("name", "wrong"), [("done", []), ("ready", [(4, "JS345")])])
def test_a_file_that_nothing_makes_is_waited_for(name: str, wrong: list[tuple[int, str]]) -> None:
    text = f"{SLURM}python3 a.py &\nuntil [ -e sea.done ]; do sleep 2; done\nwait\n=== a.py\n"
    text += f'from pathlib import Path\nPath("sea.{name}").touch()\n'
    assert [one[1:] for one in found(text)] == wrong


def test_the_last_variable_of_a_list_has_the_rest() -> None:
    text = (
        f"executable = a.py\narguments = $(x) $(y)\n{CONDOR.replace('queue', 'queue x, y from l')}"
    )
    text += (
        "=== a.py\n#!/usr/bin/env python3\nimport sys\nif len(sys.argv) != 3:\n    sys.exit(2)\n"
    )
    assert found(f"{text}=== l\na 1 2\n", "a.sub") == [("a.sub", 2, "JS336"), ("a.sub", 5, "JS336")]
    assert found(f"{text}=== l\na 1\n", "b.sub") == []


def test_objects_that_no_rule_makes() -> None:
    text = (
        f"{SLURM}make\n=== Makefile\nO = a.o b.o\nx: $(O)\n\tcc -o x $(O)\n%.o: %.c\n\tcc -c $<\n"
    )
    text += "=== a.c\nint main(void) { return 0; }\n=== c.c\nint b;\n"
    assert found(text) == [("Makefile", 1, "JS114")]
    assert found(text.replace("c.c", "b.c")) == []


def test_what_a_job_of_htcondor_opens_and_allocates() -> None:
    text = f"executable = a.py\nrequest_memory = 512\n{CONDOR}=== grid.json\n{{}}\n=== a.py\n"
    text += "#!/usr/bin/env python3\nn = 4 * 1024**3\ntable = bytearray(b'1') * n\n"
    text += "with open('grid.json') as f, open('x') as g:\n    print(f.read(), open('y').read())\n"
    report = found(f"{text}=== x\n1\n=== y\n2\n", "a.sub")
    assert {("a.sub", 2, "JS210"), ("a.py", 3, "JS210"), ("a.py", 4, "JS412")} <= {*report}


def test_what_nodes_print_is_there_for_those_behind() -> None:
    text = 'JOB a a.sub\nJOB b b.sub\nVARS a tag="A"\nPARENT a CHILD b\n=== a.sub\n'
    text += f"executable = a.sh\noutput = $(tag).out\n{CONDOR}=== a.sh\n#!/bin/sh\necho 1\n"
    text += f"=== b.sub\nexecutable = a.sh\ntransfer_input_files = A.out\n{CONDOR}"
    assert found(text, "a.dag") == []
    assert [code for *_, code in found(text.replace("A.out", "B.txt"), "b.dag")] == ["JS403"]


def test_a_dag_within_a_dag() -> None:
    text = "JOB a a.sub\nSUBDAG EXTERNAL w inner.dag\nPARENT a CHILD w\n=== inner.dag\n"
    text += "JOB b b.sub\nJOB c no.sub\nSUBDAG EXTERNAL again inner.dag\n=== a.sub\n"
    text += f"executable = /bin/echo\n{CONDOR}=== b.sub\nexecutable = /bin/cat\n"
    text += f"transfer_input_files = of_a.txt\n{CONDOR}"
    assert found(text, "a.dag") == [("inner.dag", 2, "JS420")]


@pytest.mark.parametrize(
    ("value", "wrong"), [("x.txt=out/x.txt", [3]), ("x.txt=out/$(Process).txt", [])]
)
def test_results_of_several_jobs_under_one_name(value: str, wrong: list[int]) -> None:
    text = "executable = /bin/touch\ntransfer_output_files = x.txt\n"
    text += f'transfer_output_remaps = "{value}"\n{CONDOR.replace("queue", "queue 3")}'
    assert [line for _, line, code in found(text, "a.sub") if code == "JS406"] == wrong


def test_one_file_of_a_program_in_all_tasks() -> None:
    text = f"{SLURM}#SBATCH --array=1-8 -o %a.out\npython3 a.py $SLURM_ARRAY_TASK_ID\n=== a.py\n"
    text += "import sys\nopen('fit.json', 'w').write(sys.argv[1])\n"
    assert found(text) == [("a.py", 2, "JS304")]
    own = 'd=run_$SLURM_ARRAY_TASK_ID\nmkdir -p "$d"\ncd "$d" || exit 1\npython3 ../a.py'
    assert found(text.replace("python3 a.py", own)) == []


@pytest.mark.parametrize(
    ("set_to", "lines"), [("laplace = 2.0", [5]), ("total = 2.0", []), ("do k = 1, 3", [5])]
)
def test_fortran_names_are_declared(
    set_to: str, lines: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "command", lambda *_: None)  # a compiler would say it itself
    text = f"{SLURM}./a\n=== a\n=== Makefile\n=== a.f90\nprogram a\n  implicit none\n"
    text += f"  real :: x, & ! comment\n    total\n  {set_to}\nend program\n"
    text = text.replace("./a\n", "gfortran a.f90 -o a\n./a\n")
    assert [line for file, line, code in found(text) if code == "JS354"] == lines


@pytest.mark.parametrize(
    ("call", "name", "program", "line"),
    [
        ("Rscript a.R $SLURM_ARRAY_TASK_ID", "a.R", "x <- 1\nwrite.csv(x, 'fit.csv')\n", 2),
        ("Rscript a.R $SLURM_ARRAY_TASK_ID", "a.R", "saveRDS(x, paste0('fit', task, '.rds'))\n", 0),
        ("Rscript a.R $SLURM_ARRAY_TASK_ID", "a.R", "if (task == 1)\n  pdf('fit.pdf')\n", 0),
        ("gcc -o a a.c\n./a $SLURM_ARRAY_TASK_ID", "a.c",
         "#include <stdio.h>\nint main() {\n  FILE *f = fopen(\"e.dat\", \"w\");\n}\n", 3),
    ],
)  # fmt: skip
def test_one_file_of_a_program_in_another_language(
    call: str, name: str, program: str, line: int
) -> None:
    text = f"{SLURM}#SBATCH --array=1-8 -o %a.out\n{call}\n=== {name}\n{program}"
    wrong = [one for one in found(text) if one[2] == "JS304" and one[0] == name]
    assert wrong == ([(name, line, "JS304")] if line else [])


@pytest.mark.parametrize(
    ("call", "body", "wrong"),
    [
        ("python3 a.py 300000", "for i in range(n):\n        open('x', 'a').write('1')", True),
        ("python3 a.py 300", "for i in range(n):\n        open('x', 'a').write('1')", False),
        ("python3 a.py $N", "for i in range(n):\n        open('x', 'a').write('1')", False),
        ("python3 a.py 300000", "for i in range(n):\n        if i % 1000 == 0:\n"
         "            open('x', 'a').write('1')", False),
    ],
)  # fmt: skip
def test_files_opened_as_often_as_an_argument_says(call: str, body: str, wrong: bool) -> None:
    text = f"{SLURM}{call}\n=== a.py\nimport sys\ndef main(n):\n    {body}\n"
    text += "main(int(sys.argv[1]))\n"
    assert ("a.py", 4, "JS309") in found(text) if wrong else "JS309" not in str(found(text))


_ROWS = "id\tfile\tgroup\nA\treads/a.fq\told\nB\treads/b.fq\told\nC\treads/c.fq\tnew\n"


@pytest.mark.parametrize(
    ("loop", "there", "wrong"),
    [
        ('read -r id fq g; do\n  /bwa mem "$fq" > $id.sam', "a b C", [4]),
        ('read -r id fq g; do\n  /bwa mem "$fq" > $id.sam', "a b c", []),
        ('read -r id fq g; do\n  [ -f "$fq" ] || continue\n  /bwa "$fq"', "a b C", []),
        ("read id rest; do\n  /bwa mem reads/${id}.fq > $id.sam", "A B c", [4]),
    ],
)
def test_a_file_that_a_list_names_in_another_case(loop: str, there: str, wrong: list[int]) -> None:
    text = f"{SLURM}while IFS=$'\\t' {loop}\ndone < samples.tsv\n=== samples.tsv\n{_ROWS}"
    text += "".join(f"=== reads/{one}.fq\n" for one in there.split())
    assert [line for file, line, _ in found(text) if file == "samples.tsv"] == wrong


def test_a_file_that_the_line_of_a_task_names() -> None:
    text = f'{SLURM}#SBATCH --array=1-2 -o %a.out\nF=$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" l.txt)\n'
    text += '/fit "$F" > fit_$SLURM_ARRAY_TASK_ID.txt\n=== in_1.csv\n=== in_02.csv\n=== l.txt\n'
    assert found(f"{text}in_1.csv\nin_2.csv\n") == [("l.txt", 2, "JS101")]
    assert found(f"{text}in_1.csv\nin_02.csv\n") == []


@pytest.mark.parametrize(
    ("write", "made", "wrong"),
    [
        ('write(name, \'("out/s_",i4.4,".dat")\') k', "", True),
        ("write(name, '(a,i4.4,a)') 'out/s_', k, '.dat'", "", True),
        ("write(name, '(a,i4.4,a)') 's_', k, '.dat'", "", False),
        ("write(name, '(a,i4.4,a)') 'out/s_', k, '.dat'", "mkdir -p out\n", False),
    ],
)
def test_a_folder_of_names_that_fortran_composes(write: str, made: str, wrong: bool) -> None:
    text = f"{SLURM}{made}gfortran a.f90 -o a\n./a\n=== a.f90\nprogram a\n  integer :: k = 1, u\n"
    text += f"  character(len=40) :: name\n  {write}\n"
    text += "  open(newunit=u, file=trim(name), action='write')\nend program\n"
    codes = [(file, line) for file, line, code in found(text) if code == "JS112"]
    assert codes == [("a.f90", 5)] * wrong
