"""Scripts checked: what is found where, what is left out, what is bounded."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path

import htcondor2
import pytest
from tests.unit.program.checking import SITE, written
from typer.testing import CliRunner, Result

from jobsight.cli.main import app
from jobsight.errors import SourceError
from jobsight.program.preflight.check import Checker
from jobsight.program.preflight.reports import Report
from jobsight.program.site import Site
from jobsight.program.submission.condor import fields_of


def checked(text: str, name: str = "job.sh", **options: tuple[str, ...]) -> Report:
    written(Path(), name, text)
    return Checker(**options).check(name)  # type: ignore[arg-type]


def found(text: str, name: str = "job.sh") -> list[tuple[str, int, str]]:
    return [(one.file, one.line, one.code) for one in checked(text, name).findings]


def call(*words: str) -> Result:
    return CliRunner().invoke(app, ["check", *words])


HEAD = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n"
PARSED = (
    "=== a.py\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--to')\n"
    "p.add_argument('--from', dest='source')\nargs = p.parse_args()\n"
)
COMPILE_C = "gcc a.c -o a\n./a\n=== a.c\n#include <stdio.h>\nint main(void) {\n"
FORTRAN = (
    "gfortran a.f90 -o a\n./a\n=== a.f90\nprogram a\n"
    "  integer, parameter :: dp = kind(1.d0), n = 9000\n"
    "  real(dp), allocatable :: a(:, :), b(:, :)\n"
)


def test_texts_within_the_script_have_its_lines() -> None:
    script = f"{HEAD}OUT=work; mkdir -p $OUT\ncat > $OUT/a.py <<'EOF'\nimport os\nprint 'x'\nEOF\n"
    script += "python3 $OUT/a.py\n"
    assert found(script) == [("job.sh", 6, "JS003")]
    outer = (
        f"{HEAD}cat > run.sh <<'A'\ncat > a.py <<'B'\nx = = 1\nB\npython3 a.py\nA\nbash run.sh\n"
    )
    assert found(outer) == [("job.sh", 5, "JS002")]


def test_what_it_runs_is_followed() -> None:
    files = f"{HEAD}set -e\nsource env.sh\nsrun --ntasks=1 ./step.sh data\n=== env.sh\nexport A=1\n"
    files += "=== step.sh\n#!/bin/bash\nfor f in 1 2; do\n  sort $f\n"
    written(Path(), "job.sh", files)
    Path("step.sh").chmod(0o755)
    assert found(files.split("===")[0]) == [("step.sh", 2, "JS001")]


@pytest.mark.parametrize(
    "body",
    [
        "make -j1\n./built input.dat\n=== Makefile\ninclude rules.mk\nall: $(PROGRAMS)\n",
        "apptainer exec /images/tool.sif run_tool /data/in\n",
        "paste - /dev/fd/3 <<A 3<<B\n1\nA\nsort no.txt\nB\n",
        'set -u\nfor k in a b; do declare "v_$k=1"; done\necho $v_a\n',
        "set -u\nfill() { local -n out=$1; out=5; }\nfill result\necho $result\n",
        'set -u\nprintf -v "name_$HOSTNAME" %s x\necho $name_a\n',
        "seq 9 | awk '{ print > ($1 \".col\") }'\nsort 1.col\n",
        "R CMD BATCH --no-save fit.R\nR --vanilla --args 3 < fit.R\n=== fit.R\nx <- 1\n",
        "D=d_$USER\nmkdir $D && cd $D\ncp ../a.txt .\nsort a.txt\n=== a.txt\n1\n",
        "perl a.pl\n=== a.pl\n$b{$_} = 1 for qw(x y);\nprint sort keys %b;\n",
        "python3 a.py\n=== a.py\nprint(''.join('ab'))\n=== __init__.py\n",
        "octave a.m\n=== a.m\n# a comment\nx = 1;\nif (! x)\n  x += 1;\nendif\nprintf('%d', x)\n",
        "id=$(sbatch --parsable --wrap 'python3 a.py')\nsbatch -d afterok:$id --wrap date\n",
        "seq 3 > a\ntrap 'rm -f a' EXIT\nsort a\nmv a b\nsort b\nseq 2 > a\ngzip -k a\ncat a\n",
        "module load anaconda3\nconda activate fit\n",
        "cat > a.py <<'A'\nfor n in 1, 2:\n    print(f'${n:.2f} ${n}')\nA\nn=3\npython3 a.py\n",
        "ls *.sh | parallel 'sort {} > {.}.out'\nparallel -j2 'a {}' ::: 1 2\n",
        'calc() { awk "BEGIN { print $1 }"; }\ncalc 3\n',
        "here=`cd \\`dirname $0\\` && pwd`\nname=`echo \"$here\" | sed 's,\\\\,/,'`\necho $name\n",
        'set -u\nif [ "${RAW:-}" ]; then\n  ls "$RAW"\nfi\n',
        'if [ "z1" = "z1" ]; then echo yes; fi\nset x `date`; shift\necho $1\n',
        "python3 ask.py\n=== ask.py\nimport sys\nif sys.stdin.isatty():\n    input()\n",
        "python3 old.py\n=== old.py\nimport sys\nPY2 = sys.version_info < (3,)\nif PY2:\n"
        "    text = unicode\nelif sys.version_info[0] >= 3:\n    text = str\nelse:\n"
        "    from itertools import izip\ndef read():\n    if not sys.version_info.major == 2:\n"
        "        return input\n    return raw_input\nprint(text, read)\n",
        "python3 late.py\n=== late.py\nfrom __future__ import annotations\nlast: Run = None\n"
        "class Run:\n    pass\nprint(last)\n",
        "set -u\nexec {log}> log.txt\nexec {P[1]}>&-\necho 1 >&$log\n",
        "python3 a.py\n=== a.py\nimport configparser\n"
        "configparser.ConfigParser(allow_no_value=True).read('a.ini')\n=== a.ini\n[a]\nfast\n",
        "gcc -o a a.c\n./a a.cfg\n=== a.c\nint main(void) {}\n=== a.cfg\nn = 1\n",
        "#SBATCH --array=1-3\n#SBATCH --output=%a.out\nfit $SLURM_ARRAY_TASK_ID --out=fits -n 5\n"
        "fit $SLURM_ARRAY_TASK_ID --outdir fits\n",
        "N=$(cat n || echo 1)\nif [ $N -ge 9 ]; then\n  exit 0\nfi\n"
        "echo $((N + 1)) > n\nsbatch job.sh\n",
        "gfortran -o a a.f90\n./a\n=== a.f90\nprogram a\nreal :: x(9)\n"
        "do concurrent (i = 1:9)\nx(i) = i\nend do\nend program\n",
        "gcc -o a a.c\n./a b\n=== a.c\nint main(int argc, char **argv) {\n"
        "char *f = argc > 1 ? argv[1] : 0;\nif (!f) return 1;\nreturn 0;\n}\n",
        "echo done | mail -s done me\ncython a.pyx\nlfortran a.f90\nusleep 5\n",
    ],
)
def test_sound_scripts_have_no_errors(body: str) -> None:
    assert [one for one in checked(HEAD + body).findings if one.severity == "error"] == []


def test_results_are_copied_by_a_function_at_the_end() -> None:
    copied = "mv $W/out $HOME/\n"
    body = f"W=$(mktemp -d)\nend() {{\n{copied}rm -rf $W\n}}\ntrap end EXIT\ncd $W\nseq 3 > out\n"
    assert found(HEAD + body) == []
    assert [one[2] for one in found(HEAD + body.replace(copied, ""))] == ["JS348"]


@pytest.mark.parametrize(
    ("body", "line", "code"),
    [
        ("export CUDA_VISIBLE_DEVICES=1\n", 4, "JS219"),
        (
            "python3 a.py\n=== a.py\nimport os\nn = int(os.environ['SLURM_ARRAY_TASK_ID'])\n",
            2,
            "JS216",
        ),
        ("Rscript a.R\n=== a.R\nx <- mclapply(1:3, sqrt, mc.cores = 64)\nprint(x)\n", 1, "JS209"),
        ("java -jar tool.jaar\n=== tool.jar\n1\n", 4, "JS116"),
        (
            "octave a.m\n=== a.m\nfunction a()\nfor k = 1:3\n  if k > 1\n    disp(k)\nend\nend\n",
            3,
            "JS004",
        ),
        ("OPTS='-Xms1g -Xmx24g'\njava $OPTS -jar /opt/a.jar\n", 5, "JS210"),
        ("gcc a.c\n=== a.c\ndouble *x = malloc(4000000000 * sizeof *x);\n", 1, "JS210"),
        ("python3 a.py\n=== a.py\nt = {}\nt[[1, 2]] = 3\n", 2, "JS334"),
        ("seq 3 > a\ngzip a\nwc -l a\n", 6, "JS101"),
        (
            "python3 a.py\n=== a.py\nimport sys\nn = len(sys.argv) / 2\nprint(range(n))\n",
            3,
            "JS334",
        ),
        ("#SBATCH -n 4\nexport OMP_NUM_THREADS=$SLURM_CPUS_ON_NODE\nsrun -n 4 /a\n", 5, "JS209"),
        ("module load gcc\nconda activate fit\n", 5, "JS329"),
        ('W=$(mktemp -d)\ncp "$W"/a.txt x\n=== a.txt\n1\n', 5, "JS117"),
        ("gcc -o a a.cpp\n=== a.cpp\n#include <iostream>\nint main() {}\n", 4, "JS337"),
        ("for i in 1 2; do /a $i & done\ncat out.*\n", 4, "JS312"),
        (
            "python3 a.py\n=== a.py\nimport json\nwith open('a.py') as f:\n    json.loads(f)\n",
            3,
            "JS334",
        ),
        ("python3 a.py\n=== a.py\nimport json\njson.load('a.json')\n", 2, "JS334"),
        (
            "python3 a.py t.csv\n=== t.csv\nx,y\n1,2\n=== a.py\nimport csv, sys\n"
            "rows = list(csv.DictReader(open(sys.argv[1])))\nprint([r['z'] for r in rows])\n",
            3,
            "JS339",
        ),
        (
            "python3 a.py\n=== a.py\nimport os\nOUT = os.path.join('no', 'x')\ndef main():\n"
            "    for k in range(3):\n        open(f'{OUT}/{k}.txt', 'w')\n"
            "if __name__ == '__main__':\n    main()\n",
            5,
            "JS109",
        ),
        (
            "python3 a.py\n=== a.py\nfrom pathlib import Path\nIN = Path('a.tsv')\n"
            "IN.read_text()\nPath('b.tsv').write_text('1')\n",
            3,
            "JS109",
        ),
        ("echo 1 > logs/a_$SLURM_JOB_ID.txt\n", 4, "JS104"),
        ("seq 96 | xargs -P 48 -I{} sh -c 'echo {}'\n", 4, "JS209"),
        ("again() {\n  sbatch job.sh\n}\ntrap again EXIT\ntrue\n", 5, "JS306"),
        (
            "g++ a.cpp -o a\n./a\n=== n.h\nconstexpr int N = 600;\n=== a.cpp\n"
            '#include <vector>\n#include "n.h"\nint main() {\n'
            "    std::vector<double> a(N * N * N, 0.0);\n    return a.empty();\n}\n",
            4,
            "JS210",
        ),
        (f"{FORTRAN}  allocate(a(n, n))\n  allocate(b(0:n, n))\nend program\n", 5, "JS210"),
        ("julia a.jl\n=== a.jl\nconst N = 700\na = zeros(Float32, N, N, N)\n", 2, "JS210"),
        (
            'python3 a.py b.txt\n=== a.py\n"""Read, and write gains."""\nimport sys\n'
            "a = open('a.txt').read()\nopen(sys.argv[1], 'w').write(a)\n",
            3,
            "JS109",
        ),
        ("python3 -c '\nimport sys\nprint >>sys.stderr, 1'\n", 6, "JS334"),
        (
            "touch a.ok &\npython3 a.py\nwait\n=== a.py\nimport os, time\n"
            "while not os.path.exists('a.done'):\n    time.sleep(9)\n",
            2,
            "JS345",
        ),
        (
            "python3 a.py\n=== tools/b.sh\n#!/bin/sh\n=== a.py\nimport subprocess\n"
            "TOOL = './' + 'tools/b.sh'\nsubprocess.run([TOOL, 'x'], check=True)\n",
            3,
            "JS108",
        ),
        (
            "python3 a.py\n=== a.py\nfrom joblib import Parallel\n"
            "JOBS = 8\nParallel(n_jobs=JOBS)\n",
            2,
            "JS209",
        ),
        (f"python3 a.py --to no/b.txt --from c.txt\n{PARSED}open(args.to, 'w')\n", 6, "JS109"),
        (
            "gcc a.c -o a\n./a\n=== a.c\n#include <stdint.h>\n#include <stdlib.h>\n#define L 800\n"
            "#define ALL ((size_t)L * L * L)\nstatic uint16_t *a, *b;\nint main(void) {\n"
            "    a = malloc(ALL * sizeof *a);\n    b = malloc(ALL * sizeof *b);\n"
            "    return a == b;\n}\n",
            8,
            "JS210",
        ),
        (
            "export PYTHONNOUSERSITE=1\nexport PYTHONPATH=$SLURM_SUBMIT_DIR/lib/site-packages\n"
            "python3 a.py\n=== lib/site-packages/one.py\n=== a.py\nimport one\nimport two\n",
            2,
            "JS107",
        ),
        ("make -j $N\n=== Makefile\na:\n\tcc -c a.c\n", 2, "JS101"),
        ("matlab -batch a\n=== a.m\np = readtable(fullfile('in', 'p.csv'));\n", 1, "JS112"),
        ("x=1\nif [ $x -lt 2 ] then\n  echo 1\nfi\n", 5, "JS001"),
        (
            "python3 a.py --n-in 3\n=== a.py\nimport argparse\ndef given():\n"
            "    p = argparse.ArgumentParser()\n    p.add_argument('--n-in')\n"
            "    return p.parse_args()\ndef run(args):\n    print(args.n)\nargs = given()\n"
            "run(args)\n",
            7,
            "JS335",
        ),
        (f'{COMPILE_C}  FILE *f = fopen("out/a.dat", "w");\n', 3, "JS112"),
        (
            "javac A.java\njava -Xmx1g A\n=== A.java\npublic class A {\n  static String s() throws"
            ' Exception {\n    return Files.readString(Path.of("in.txt"));\n  }\n}\n',
            3,
            "JS112",
        ),
        ("Rscript a.R\n=== a.R\nn <- 2e4\na <- array(0, dim = c(n, n, 3L))\n", 2, "JS210"),
        ("Rscript a.R\n=== a.R\nx <- rep(NA, 600000000)\n", 1, "JS210"),
        ("octave a.m\n=== a.m\nx = zeros(20000);\n", 1, "JS210"),
        ("Rscript a.R\n=== a.R\nx <- 3\nif (x > 2) print(1)\nelse print(2)\n", 3, "JS004"),
        ("for f in data/*.csv; do wc -l $f; done\n", 4, "JS101"),
        ("for i in 1..5; do echo $i; done\n", 4, "JS328"),
        ("n=3\nfor i in {1..$n}; do echo $i; done\n", 5, "JS328"),
        ("#SBATCH -n 8\nsrun python3 a.py\n=== a.py\nprint(sum(range(9)))\n", 5, "JS208"),
    ],
)
def test_errors_are_at_their_lines(body: str, line: int, code: str) -> None:
    head = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n#SBATCH --gpus=1\n"
    assert (line, code) in {one[1:] for one in found(head + body)}


@pytest.mark.parametrize(
    "body",
    [
        f'mkdir out\n{COMPILE_C}  FILE *f = fopen("out/a.dat", "w");\n  return !f;\n}}\n',
        "Rscript a.R\n=== a.R\nf <- function(x) {\n  if (x > 2) 1\n  else 2\n}\nprint(f(3))\n",
        "bash a.sh in.csv b.csv\n=== a.sh\nshift\nsort $1\n=== b.csv\n1\n",
        "seq 3 | xargs -I{} bash -c 'wc $0 $1' _ {}\n",
    ],
)
def test_what_may_be_sound_is_left_alone(body: str) -> None:
    head = "#!/bin/bash\n#SBATCH --mem=1G --time=10\n"
    assert {one[2] for one in found(head + body)} <= {"JS108", "JS302"}


def test_what_is_silenced_is_not_reported() -> None:
    assert found(f"{HEAD}sort no.txt  # jobsight: ignore[JS101]\n") == []
    assert found(f"{HEAD}# jobsight: ignore\nsort no.txt\n") == []
    assert found(f"{HEAD}sort no.txt  # jobsight: ignore[JS102]\n") == [("job.sh", 3, "JS101")]
    assert checked(f"{HEAD}sort no.txt\n", ignored=("JS1",)).findings == ()


def test_a_server_is_not_a_job() -> None:
    assert not checked(f"{HEAD}jupyter lab --no-browser\n").job
    assert checked(f"{HEAD}sleep 5\n").job


def test_the_call_goes_before_the_script() -> None:
    text = f"{HEAD}python3 - <<'EOF'\nx = bytearray(3 * 10**9)\nEOF\n"
    assert [one.code for one in checked(text).findings] == ["JS210"]
    assert checked(text, options=("--mem=4G",)).findings == ()


def test_secrets_are_not_printed() -> None:
    report = checked(f"{HEAD}export API_KEY=hunter2hunter2\n./a\n")
    assert any(one.code == "JS311" for one in report.findings)
    assert "hunter2" not in json.dumps(report.to_json())


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"#!/bin/sh\n" + b"x" * (5 << 20), "more than 4 MiB"), (b"\x7fELF\0\0", "not text")],
)
def test_what_is_not_a_script_is_refused(data: bytes, reason: str) -> None:
    Path("job.sh").write_bytes(data)
    with pytest.raises(SourceError, match=reason):
        Checker().check("job.sh")
    with pytest.raises(SourceError, match="not there"):
        Checker().check("no\x1b[2J.sh")


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "$(" * 3000,
        HEAD + "if true; then\n" * 2000,
        HEAD + "x=${x:-" * 2000,
        HEAD + "f() { f; g; }\ng() { f; g; }\nf\n",
        HEAD + "cat <<A\n" * 500,
        "queue x from (\n" * 300,
        "#!/usr/bin/env python3\n" + "(" * 5000,
    ],
)
def test_hostile_texts_are_bounded(text: str) -> None:
    try:
        assert len(checked(text).findings) < 1000
    except SourceError as error:
        assert "nested too deep" in str(error)


def test_patterns_that_no_folder_takes_are_passed_over() -> None:
    submit = "executable = /bin/true\nrequest_memory = 1GB\nlog = a.log\nqueue f matching files "
    written(Path(), "job.sub", f"{submit}a**b\n")
    assert [one.code for one in Checker(shellcheck=False).check("job.sub").findings] == []
    text = "touch a &\npython3 a.py\n=== a.py\nimport os, time\n"
    text += "while not os.path.exists('x.**'):\n    time.sleep(9)\n"
    assert ("a.py", 2, "JS345") in found(f"{HEAD}{text}")


def test_a_module_that_was_purged_is_missed() -> None:
    text = f"{HEAD}module load samtools/1.17\nsource ./env.sh\nsamtools view a.bam\n"
    text += "=== env.sh\nmodule purge\nmodule load gcc/13.2\n"
    written(Path(), "job.sh", text)
    report = Checker(Site.saved(written(Path("site"), "", SITE)), shellcheck=False).check("job.sh")
    assert [(one.line, one.code) for one in report.findings if one.code == "JS103"] == [
        (5, "JS103")
    ]


def test_items_are_those_of_htcondor() -> None:
    lines = ["a b c d", "a, b, c", "a,b,c,d e", "a  b  c, d", "1 , 2 , 3", '"l m", n, o', "a b"]
    submit = htcondor2.Submit("queue x, y, z from (\n" + "\n".join(lines) + "\n)\n")
    for line, item in zip(lines, submit.itemdata(), strict=True):
        found = [*fields_of(line, 3), ""][:3]
        assert found == list(item.values()), line


def test_what_is_transferred_by_pattern_or_from_a_folder_is_found() -> None:
    text = (
        "executable = a.py\narguments = $(file)\nshould_transfer_files = YES\n"
        "transfer_input_files = $(file), lib/\nlog = a.log\n"
        "queue file matching files in/*.txt\n"
        "=== in/b.txt\n1\n=== lib/own.py\nX = 1\n=== a.py\n#!/usr/bin/env python3\nimport own\n"
    )
    written(Path(), "job.sub", text)
    Path("a.py").chmod(0o755)
    assert [one.code for one in Checker(shellcheck=False).check("job.sub").findings] == []
    text = text.replace("a.py\n#!/usr/bin/env python3\nimport own", "a.py\n#!/bin/sh\ncat ./*.txt")
    written(Path(), "job.sub", text)
    Path("a.py").chmod(0o755)
    assert [one.code for one in Checker(shellcheck=False).check("job.sub").findings] == []


def test_what_is_held_and_released_is_tried_again() -> None:
    policy = "max_retries = 3\non_exit_hold = ExitCode != 0\nperiodic_release = NumJobStarts < 5\n"
    text = f"executable = /bin/true\nrequest_memory = 1GB\nlog = a.log\n{policy}queue\n"
    written(Path(), "job.sub", text)
    assert [one.code for one in Checker().check("job.sub").findings if one.code == "JS408"] == []


@pytest.mark.parametrize(
    ("line", "code"),
    [("max_retries = 3\n", "JS408"), ("when_to_transfer_output = ON_EXIT_OR_EVICT\n", "JS407")],
)
def test_policies_that_cannot_work(line: str, code: str) -> None:
    text = f"executable = a.py\nshould_transfer_files = IF_NEEDED\nlog = a.log\n{line}queue\n"
    text += "=== a.py\n#!/usr/bin/env python3\nimport sys\ndef main():\n    return len(sys.path)\n"
    written(Path(), "job.sub", f"{text}if __name__ == '__main__':\n    sys.exit(main())\n")
    Path("a.py").chmod(0o755)
    assert [one.code for one in Checker(shellcheck=False).check("job.sub").findings] == [code]


@pytest.mark.parametrize(
    ("part", "end"),
    [
        *((one, "\necho 2\n") for one in ("\n", "a ", "echo a;", "true\n", "\t \n")),
        ("while read a; do\n", ""),
        ('f <- "a"\n', ""),
    ],
)
def test_what_is_long_is_read_in_a_time_in_proportion(part: str, end: str) -> None:
    front = "Rscript a.R\n=== a.R\n" if "<-" in part else "echo 1\necho "
    times = []
    for count in (1_000, 8_000):
        before = time.process_time()
        written(Path(), "job.sh", f"{HEAD}{front}{part * count}{end}")
        Checker(shellcheck=False).check("job.sh")
        times.append(time.process_time() - before)
    assert times[1] < 20 * (times[0] + 0.05)


def test_the_executable_is_checked_where_it_will_run() -> None:
    job = "executable = run.sh\nshould_transfer_files = YES\ntransfer_input_files = a.dat\nqueue\n"
    files = f"{job}=== run.sh\n#!/bin/bash\nsort a.dat b.dat\n=== a.dat\n1\n=== b.dat\n2\n"
    written(Path(), "job.sub", files)
    Path("run.sh").chmod(0o755)
    report = Checker().check("job.sub")
    assert report.scheduler == "htcondor"
    places = [("job.sub", 3, "JS412"), ("run.sh", 2, "JS412")]
    assert [(one.file, one.line, one.code) for one in report.findings] == places


def test_answers_for_machines() -> None:
    written(Path(), "a.sh", f"{HEAD}sort no.txt\n=== b.sh\n{HEAD}echo hello\n")
    one = call("--json", "a.sh")
    answer = json.loads(one.stdout)
    assert one.exit_code == 1 and set(answer) == {"file", "scheduler", "job", "findings"}
    keys = ["file", "line", "column", "severity", "code", "message", "fix"]
    assert [list(found) for found in answer["findings"]] == [keys]
    both = call("--json", "a.sh", "b.sh")
    assert [len(one["findings"]) for one in json.loads(both.stdout)] == [1, 0]
    sarif = json.loads(call("--sarif", "a.sh").stdout)["runs"][0]
    assert [one["ruleId"] for one in sarif["results"]] == ["JS101"]
    assert call("b.sh").exit_code == 0 and call("no.sh").exit_code == 1
    assert call("--json", "--sarif", "b.sh").exit_code != 0


def test_what_shellcheck_finds_has_its_codes_and_no_matters_of_style() -> None:
    written(Path(), "b.sh", f'{HEAD}x=(a b)\necho "$x[1]"\nls $HOME | grep a\n')
    codes = {(str(one["line"]), one["code"][:2]) for one in _codes("b.sh", "b.sh")}
    assert codes == {("4", "SC")}
    assert _codes("--no-shellcheck", "b.sh", "b.sh") == []


def _codes(*words: str) -> list[dict[str, str]]:
    return [found for one in json.loads(call("--json", *words).stdout) for found in one["findings"]]


def test_safe_fixes_are_written() -> None:
    Path("job.sh").write_bytes(
        b"#!/bin/bash\r\n#SBATCH --tmie=10\r\n#SBATCH --output=logs/%j.out\r\necho hello\r\n"
    )
    assert call("--fix", "job.sh").exit_code == 0
    assert Path("job.sh").read_bytes().startswith(b"#!/bin/bash\n#SBATCH --time=10\n")
    assert Path("logs").is_dir()


def test_requirements_that_htcondor_cannot_parse_are_bounded() -> None:
    text = "executable = /bin/echo\nlog = a.log\nrequirements = (Cpus >= 2) && Memory >=\nqueue\n"
    written(Path(), "a.sub", f"{text}=== condor_status.ads\nCpus = 8\nMemory = 9000\n")
    assert Checker(Site.saved(Path())).check("a.sub").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "BEGIN { open(F, '>', 'ran'); }\n",
        "use POSIX @{[ open(F, '>', 'ran') ]};\n",
        "use lib '.';\nuse Own;\n=== Own.pm\nopen(F, '>', 'ran');\n1;\n",
        "sub MODIFY_CODE_ATTRIBUTES { open(F, '>', 'ran'); () }\nsub x : Odd { 1 }\n",
    ],
)
def test_what_perl_would_run_when_it_compiles_is_not_run(text: str) -> None:
    written(Path(), "job.sh", f"{HEAD}perl a.pl\n=== a.pl\n{text}print 1\nprint 2;\n")
    Checker().check("job.sh")
    assert not Path("ran").exists()


def test_of_a_text_that_was_sent_nothing_here_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "#!/bin/sh\n#SBATCH --mem=1G --time=10 --output=out/%j.log\nN=3\nif [[ $N == 3 ]]; then\n"
    )
    text += (
        "cat in.txt\nfi\n./tool.sh\ngcc a.c\npython3 - <<'EOF'\nimport os, numpy\nos.environ['N']\n"
    )
    text += "open('data.csv')\nEOF\n"
    here = Checker(shellcheck=False).sent("job.sh", text)
    assert [one.code for one in here.findings] == ["JS334"]
    for name in ("in.txt", "tool.sh", "a.c"):
        Path(name).write_text("(")
    monkeypatch.setenv("SBATCH_MEM_PER_NODE", "some")
    monkeypatch.setenv("N", "4")
    monkeypatch.setenv("PATH", "")
    assert Checker(shellcheck=False).sent("job.sh", text) == here


@pytest.mark.parametrize(
    ("shell", "codes"), [("/bin/tcsh", []), ("/usr/local/bin/tcsh", ["JS008"])]
)
def test_a_shell_that_is_not_here_may_be_on_the_cluster(shell: str, codes: list[str]) -> None:
    if Path(shell).exists():
        pytest.skip(f"{shell} is here")
    report = checked(f"#!{shell}\n#SBATCH --mem=1G --time=10\necho 1\n")
    assert [one.code for one in report.findings] == codes


@pytest.mark.parametrize(
    "part",
    ["(", "[", "$(", "`", "\"'", "a|", "a&&", "cat <<E\nx\nE\n", "cat <<E\n", "if a; then\n",
     "echo $(a)\n", "rm f; tar_up\n", "f() { g; }\nf\n"],
)  # fmt: skip
def test_time_grows_with_the_length_of_a_text(part: str) -> None:
    def seconds(times: int) -> float:
        text = HEAD + part * times
        begun = time.process_time()
        with contextlib.suppress(SourceError):
            Checker(shellcheck=False).sent("job.sh", text)
        return time.process_time() - begun

    seconds(500)
    times = 12_000 // len(part)
    assert seconds(4 * times) < 8 * seconds(times) + 0.5
