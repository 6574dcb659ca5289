"""The normalized tree: the same program in several languages, what it runs, what calls do."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import tree_sitter_language_pack

from jobsight.errors import SettingsError, SourceError
from jobsight.program.tree import (
    EFFECTS,
    FEATURES,
    KINDS,
    LANGUAGES,
    features_of,
    read_program,
    read_text,
    reuses,
)
from jobsight.program.tree.grammars import merged_table
from jobsight.program.tree.normalized import Tree

_SUMS = {
    "python": "for i in range(1000):\n    a[i] = b[i] * 2.0\n",
    "c": "int main() { for (int i = 0; i < 1000; i++) a[i] = b[i] * 2.0; }\n",
    "cpp": "int main() { for (int i = 0; i < 1000; i++) a[i] = b[i] * 2.0; }\n",
    "cuda": "int main() { for (int i = 0; i < 1000; i++) a[i] = b[i] * 2.0; }\n",
    "fortran": "program p\nreal :: a(1000), b(1000)\ndo i = 1, 1000\n a(i) = b(i) * 2.0\n"
    "end do\nend program\n",
    "julia": "for i in 1:1000\n a[i] = b[i] * 2.0\nend\n",
    "r": "for (i in 1:1000) { a[i] <- b[i] * 2.0 }\n",
    "go": "package main\nfunc main() { for i := 0; i < 1000; i++ { a[i] = b[i] * 2.0 } }\n",
    "rust": "fn main() { for i in 0..1000 { a[i] = b[i] * 2.0; } }\n",
    "java": "class A { public static void main(String[] s) {\n"
    "for (int i = 0; i < 1000; i++) { a[i] = b[i] * 2.0; } } }\n",
    "perl": "for my $i (0 .. 1000) { $a[$i] = $b[$i] * 2.0; }\n",
    "lua": "for i = 1, 1000 do a[i] = b[i] * 2.0 end\n",
    "matlab": "b = zeros(1, 1000);\nfor i = 1:1000\n a(i) = b(i) * 2.0;\nend\n",
}


def _kinds(tree: Tree) -> list[str]:
    return [KINDS[one] for one in tree.kind]


@pytest.mark.parametrize("language", _SUMS)
def test_a_loop_over_an_array_is_the_same_in_all_languages(language: str) -> None:
    tree = read_text(_SUMS[language], "sum", language=language)
    loop = _kinds(tree).index("loop")
    inside = _kinds(tree)[loop : tree.end[loop]]
    assert inside.count("index") == 2
    assert "multiply" in inside
    assert tree.depth[loop + inside.index("multiply")] == 1
    assert tree.size[loop] == 11
    found = dict(zip(FEATURES, features_of(tree), strict=True))
    assert found["nesting.inner"] == 1
    assert 10 <= found["runs.arithmetic"] < 11.5
    assert found["index.straight"] > 10
    assert found["index.strided"] == found["index.indirect"] == 0


def test_a_shell_script_holds_the_programs_that_it_runs(tmp_path: Path) -> None:
    (tmp_path / "step.py").write_text("import time\ntime.sleep(5)\n")
    script = tmp_path / "job.sh"
    script.write_text(
        "#!/bin/bash\nfor i in 1 2 3 4 5; do\n  srun python3 step.py $i\ndone\n"
        "python3 - <<'EOF'\nimport time\ntime.sleep(7)\nEOF\npython3 -c 'import time'\n"
    )
    tree = read_program(script)
    assert [file.language for file in tree.files] == ["bash", "python", "python", "python"]
    sleeps = np.flatnonzero(tree.effect == EFFECTS.index("sleep"))
    assert [tree.place(int(one))[1] for one in sleeps] == [2, 7]
    assert tree.depth[sleeps].tolist() == [1, 0]


def test_scripts_that_run_each_other_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("#!/bin/bash\nbash b.sh\n")
    (tmp_path / "b.sh").write_text("#!/bin/bash\nbash a.sh\n")
    assert read_program(tmp_path / "a.sh").problems == ("a.sh runs b.sh runs a.sh",)


def test_functions_carry_the_loops_around_their_calls() -> None:
    text = (
        "import os, time\ndef save(x):\n    os.fsync(x)\ndef never():\n    time.sleep(1)\n"
        "for i in range(n):\n    for j in i:\n        save(j)\n"
    )
    tree = read_text(text, "a.py")
    assert tree.depth[next(n for n, name in tree.calls.items() if name == "os.fsync")] == 2
    assert not tree.reached[next(n for n, name in tree.calls.items() if name == "time.sleep")]


def test_what_no_grammar_reads_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("let x = 1\n")
    (tmp_path / "b.py").write_bytes(b"x = 1\0")
    with pytest.raises(SourceError, match="no language that is read"):
        read_program(tmp_path / "a.js")
    with pytest.raises(SourceError, match="zero byte"):
        read_program(tmp_path / "b.py")


def test_a_site_says_what_its_libraries_do() -> None:
    text = "import lab\ns = lab.open('x')\ns.shot(3)\nlab.invert(a)\n"
    site = {"python": {"solve": "lab.invert", "read": "lab.open().*"}}
    tree = read_text(text, "a.py", site=site)
    found = {name: EFFECTS[tree.effect[node]] for node, name in tree.calls.items()}
    assert found == {"lab.open": "open", "lab.open().shot": "read", "lab.invert": "solve"}
    with pytest.raises(SettingsError, match="no effect fast"):
        read_text(text, "a.py", site={"python": {"fast": "lab.invert"}})
    with pytest.raises(SettingsError, match="no trees of cobol"):
        read_text(text, "a.py", site={"cobol": {}})


def test_what_is_known_of_calls_is_sound() -> None:
    text = files("jobsight.program.tree").joinpath("effects.toml").read_text("utf-8")
    for language, table in tomllib.loads(text).items():
        assert language in LANGUAGES
        names = [name for effect, names in table.items() for name in names.split()]
        assert set(table) <= set(EFFECTS)
        assert len(names) == len(set(names)), language


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grammars_have_what_is_named_of_them(language: str) -> None:
    known = tree_sitter_language_pack.get_language(language)  # type: ignore[arg-type]
    types = {known.node_kind_for_id(one) for one in range(known.node_kind_count)} | {"ERROR"}
    table = merged_table(language)
    named = {one for kind in (*KINDS, "skip", "header") for one in table.get(kind, "").split()}
    assert named | table.get("calls", {}).keys() | table.get("words", {}).keys() <= types


@pytest.mark.parametrize(
    ("name", "text", "effects"),
    [
        ("a.py", "import numpy as np\nfrom os import fsync as f\nnp.linalg.inv(a)\nf(1)\n",
         ["solve", "sync"]),
        ("a.py", "import sqlite3\nc = sqlite3.connect('a')\nc.commit()\nc.execute('x')\n",
         ["database", "commit", "database"]),
        ("a.py", "import socket\nwith socket.socket() as s:\n    s.recv(10)\n",
         ["connect", "receive"]),
        ("a.py", "df = load()\ndf.groupby('a')\n','.join(x)\nt.join()\n",
         ["unknown", "table", "text", "wait"]),
        ("a.cpp", "int main() { std::vector<int> v(9); std::sort(v.begin(), v.end()); }",
         ["allocate", "sort", "cheap", "cheap"]),
        ("a.rs", "use std::fs::File;\n"
         "fn main() { let mut f = File::open(p).unwrap(); f.sync_all(); }",
         ["cheap", "open", "sync"]),
        ("a.go", 'import h "net/http"\nfunc main() { h.Get(u); time.Sleep(1) }',
         ["request", "sleep"]),
        ("a.java", "class A { void main() { FileReader r = new FileReader(f); r.read(); } }",
         ["open", "read"]),
        ("a.f90", "program a\ncall DGEMM(x)\ncall MPI_Send(y)\nend program\n", ["dense", "mpi"]),
        ("a.R", "x <- data.table::fread('a')\ny <- x %*% t(x)\n", ["read", "dense", "copy"]),
        ("a.sh", "dd if=a of=b oflag=direct\nsrun rsync a:b c\ngit clone x\n",
         ["sync", "transfer", "fetch"]),
        ("a.cu", "int main() { cudaMalloc(&p, 3); k<<<1, 2>>>(p); }", ["gpu", "gpu"]),
        ("a.pl", "use LWP::UserAgent;\nmy $u = LWP::UserAgent->new;\n$u->get('http://a');\n",
         ["connect", "request"]),
        ("a.lua", "local http = require('socket.http')\nhttp.request('http://a')\n",
         ["cheap", "request"]),
        ("a.py", "import h5py\nwith h5py.File(p) as f:\n    d = f['x']\n    d[4] = d[3]\n",
         ["open", "read", "write", "read"]),
        ("a.py", "f = open(p, 'w')\nf.write(x)\nf.close()\n", ["open", "write", "metadata"]),
        ("a.cpp", "int main() { std::ifstream in(p); std::string w; while (in >> w) n << 2; }",
         ["open", "text", "parse"]),
        ("a.go", "func main() { v := <-c }", ["queue"]),
        ("a.f90", "program a\nread(10, *) x\nread(10) x\nend program\n", ["parse", "read"]),
    ],
)  # fmt: skip
def test_calls_are_resolved_to_what_they_do(name: str, text: str, effects: list[str]) -> None:
    tree = read_text(text, name)
    assert [EFFECTS[tree.effect[node]] for node in sorted(tree.calls)] == effects


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.py", "c = a // b\n", "divide"),
        ("a.pl", "my $c = $a // $b;\n", "logic"),
        ("a.c", "int main() { return a & 7; }", "bits"),
        ("a.R", "d <- a & b\n", "logic"),
    ],
)
def test_operators_mean_what_their_language_says(name: str, text: str, kind: str) -> None:
    assert kind in _kinds(read_text(text, name))


@pytest.mark.parametrize(
    ("name", "text", "size"),
    [
        ("a.java", "class A { void main() { int n = 1024; long[] a = new long[n * n]; } }", 21),
        ("a.cpp", "int main() { const int n = 1024; std::vector<double> a(n); }", 11),
        ("a.c", "int main() { double *a = malloc(1024 * sizeof(struct cell)); }", 11),
        ("a.go", "func main() { a := make([][]int, 1024)\n"
         "for i := 0; i < 1024; i++ { a[i] = make([]int, 1024) } }", 21),
        ("a.py", "import numpy\ndef run(n, k):\n    return numpy.ones((n, n))\n"
         "print(run(64, 9))\n", 13),
        ("a.py", "import numpy\nclass A:\n    def __init__(self, n=4):\n"
         "        self.a = numpy.ones(n)\nA(n=2**12)\n", 13),
        ("a.py", "import numpy\np = {'n': 2_048}\na = numpy.full((p['n'], p['n']), 1e9)\n", 23),
        ("a.py", "import argparse, numpy\np = argparse.ArgumentParser()\n"
         "p.add_argument('-n', '--side', default=1 << 6)\no = p.parse_args()\n"
         "a = numpy.zeros((o.side, o.side))\n", 13),
        ("a.py", "import numpy\nx = numpy.random.uniform(0, 1e9, size=(64, 64))\n", 13),
        ("a.py", "import random\nx = random.randint(0, 10**9)\n", 0),
        ("a.py", "import numpy\na = 5 * numpy.ones(64)\nb = numpy.zeros_like(a)\n", 7),
        ("a.c", "int main(int c, char **v) { int n = 1024; if (c > 1) n = atoi(v[1]);\n"
         "double *a = calloc(n, sizeof *a); }", 11),
        ("a.cpp", "int main() { std::vector<std::vector<int>> a(64, std::vector<int>(64)); }", 13),
        ("a.cpp", "int main() { auto a = std::make_unique<double[]>(4096); }", 13),
        ("a.rs", "const N: usize = 64; fn main() { let a = [[0.0; N]; N]; }", 13),
        ("a.R", "f <- function(n = 64) matrix(runif(n * n, 0, 1000), n, n)\nf()\n", 13),
        ("a.jl", "n = 64\na = zeros(n, n)\n", 13),
        ("a.m", "n = 64;\nA = zeros(n);\n", 13),
    ],
)  # fmt: skip
def test_the_largest_array_is_known(name: str, text: str, size: int) -> None:
    found = dict(zip(FEATURES, features_of(read_text(text, name)), strict=True))
    assert found["value.array"] == size
    assert bool(found["value.in_cache"]) == (0 < size < 22)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("python grid.py 512 --reps 9", 11), ("N=64\nsrun python grid.py $N", 8),
        ("python side.py --side=64", 13), ("python side.py", 7),
    ],
)  # fmt: skip
def test_a_command_line_gives_sizes(tmp_path: Path, text: str, size: int) -> None:
    (tmp_path / "grid.py").write_text(
        "import sys, numpy\nn = int(sys.argv[1]) if len(sys.argv) > 1 else 10**6\n"
        "a = numpy.zeros(2 * n)\n"
    )
    (tmp_path / "side.py").write_text(
        "import argparse, numpy\np = argparse.ArgumentParser()\n"
        "p.add_argument('--side', type=int, default=8)\nn = p.parse_args().side\n"
        "o = p.parse_args()\na = numpy.zeros((o.side, o.side))\n"
    )
    tree = read_text(text, "job.sh", folder=str(tmp_path))
    assert dict(zip(FEATURES, features_of(tree), strict=True))["value.array"] == size


def test_a_file_named_after_the_folder_is_no_module_of_a_program_in_it(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab.py").write_text("import time\ntime.sleep(9)\n")
    tree = read_text("import numpy\n", "a.py", folder=str(tmp_path / "lab"))
    assert len(tree.files) == 1


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("a = numpy.ones((99, 99))\nb = a @ a\n", 1),
        ("a = numpy.ones((99, 99))\nx = numpy.ones(99)\nb = a @ x\n", 0),
        ("w = numpy.linalg.eigh(numpy.cov(x))\n", 2),
        ("w = scipy.sparse.linalg.cg(a, b)\n", 0),
    ],
)  # fmt: skip
def test_products_of_matrices_use_their_elements_again(text: str, times: int) -> None:
    assert reuses(read_text(f"import numpy, scipy\n{text}", "a.py")).sum() == times


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.py", "import torch\ndevice = 'cpu'\nx = torch.ones(9).to(device)\n", 0),
        ("a.py", "import torch\ndevice = 'cuda'\nx = torch.ones(9).to(device)\n", 1),
        ("a.sh", "#!/bin/bash\n#SBATCH --gres=gpu:1\npython elsewhere.py\n", 1),
        ("a.sh", "#!/bin/bash\n#SBATCH --gres=lscratch:9\npython elsewhere.py\n", 0),
        ("a.m", "u = gpuArray.zeros(64);\n", 1),
    ],
)
def test_what_works_on_a_gpu(name: str, text: str, count: int) -> None:
    assert (read_text(text, name).effect == EFFECTS.index("gpu")).sum() == count


def test_functions_that_call_themselves_are_counted() -> None:
    text = "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n\nf(30)\n"
    found = dict(zip(FEATURES, features_of(read_text(text, "a.py")), strict=True))
    assert found["nesting.recursive"] == np.log2(3)
