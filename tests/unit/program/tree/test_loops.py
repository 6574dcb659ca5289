"""How often things run, and how loops move over arrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobsight.program.tree import FEATURES, KINDS, features_of, read_program, read_text


def feature(text: str, name: str, file: str = "a.py") -> float:
    found = features_of(read_text(text, file))
    return float(dict(zip(FEATURES, found, strict=True))[name])


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("for i in range(1024):\n    f(i)\n", 11),
        ("n = 32 * 32\nfor i in range(n):\n    f(i)\n", 11),
        ("n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024\nfor i in range(n):\n    f(i)\n", 11),
        ("import argparse\np = argparse.ArgumentParser()\n"
         "p.add_argument('--n', type=int, default=1024)\na = p.parse_args()\n"
         "for i in range(a.n):\n    f(i)\n", 11),
        ("for i in [3, 4, 5, 6]:\n    f(i)\n", 3),
        ("for i in unknown():\n    f(i)\n", 0),
        ("n = 1024\nn += other()\nfor i in range(n):\n    f(i)\n", 0),
        ("while k < 4:\n    f(k)\n", 0),
    ],
)  # fmt: skip
def test_the_size_of_a_loop_is_that_of_its_bounds(text: str, size: int) -> None:
    tree = read_text(text, "a.py")
    assert tree.size[tree.kind.tolist().index(KINDS.index("loop"))] == size


def test_a_loop_runs_as_often_as_its_bounds_say_else_32_times() -> None:
    call = "import os\nfor i in {}:\n    os.fsync(i)\n"
    assert feature(call.format("range(1024)"), "runs.sync") == pytest.approx(10, abs=0.01)
    assert feature(call.format("unknown()"), "runs.sync") == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize(
    ("file", "text", "straight"),
    [
        ("a.c", "void f() { for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += a[i][j]; }", True),
        ("a.c", "void f() { for (j = 0; j < n; j++) for (i = 0; i < n; i++) s += a[i][j]; }",
         False),
        ("a.c", "void f() { for (j = 0; j < n; j++) for (i = 0; i < n; i++) s += a[i * n + j]; }",
         False),
        ("a.f90", "program p\nreal :: a(9, 9)\ndo j = 1, n\ndo i = 1, n\ns = s + a(i, j)\nend do\n"
         "end do\nend program\n", True),
        ("a.f90", "program p\nreal :: a(9, 9)\ndo i = 1, n\ndo j = 1, n\ns = s + a(i, j)\nend do\n"
         "end do\nend program\n", False),
    ],
)  # fmt: skip
def test_the_index_that_is_fastest_in_memory_depends_on_the_language(
    file: str, text: str, straight: bool
) -> None:
    assert (feature(text, "index.straight", file) > 0) == straight
    assert (feature(text, "index.strided", file) > 0) == (not straight)


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        ("a.c", "void f() { for (i = 0; i < n; i++) s += a[b[i]]; }", "index.indirect"),
        ("a.c", "void f() { while (p) { p = p->next; } }", "index.chased"),
        ("a.c", "void f() { while (k) { k = next[k]; } }", "index.chased"),
        ("a.py", "for i in range(n):\n    s += a[i]\n", "index.interpreted"),
    ],
)
def test_other_ways_to_index(file: str, text: str, name: str) -> None:
    assert feature(text, name, file) > 0
    plain = "void f() { for (i = 0; i < n; i++) s += a[i]; }"
    assert feature(plain, name, "a.c") == 0


def test_a_library_is_reached_whole_and_a_program_from_its_start() -> None:
    functions = "import os\ndef one():\n    os.fsync(1)\ndef two():\n    one()\n"
    assert feature(functions, "runs.sync") > 0
    assert feature(f"{functions}print('done')\n", "runs.sync") == 0
    assert feature(f"{functions}two()\n", "runs.sync") > 0


def test_an_object_is_made_by_the_methods_that_its_class_implies() -> None:
    text = (
        "import os\nclass Log:\n    def __init__(self):\n        os.fsync(1)\n"
        "    def never(self):\n        os.stat('a')\nfor k in range(64):\n    Log()\n"
    )
    tree = read_text(text, "a.py")
    nodes = {name: node for node, name in tree.calls.items()}
    assert tree.reached[nodes["os.fsync"]]
    assert tree.runs[nodes["os.fsync"]] == 6
    assert not tree.reached[nodes["os.stat"]]


def test_what_is_only_done_on_errors_does_not_count() -> None:
    text = "import time\ntry:\n    f()\nexcept OSError:\n    time.sleep(9)\n"
    assert feature(text, "runs.sleep") == 0
    assert feature(text, "handlers.sleep") == 1


def test_a_function_runs_as_often_as_the_loops_around_its_calls() -> None:
    text = "import os\ndef save(k):\n    os.fsync(k)\nfor i in range({}):\n    save(i)\n"
    assert feature(text.format(1024), "runs.sync") == pytest.approx(10, abs=0.01)
    assert feature(text.format(16), "runs.sync") == pytest.approx(4, abs=0.1)


WORKERS = """import threading, queue
tasks = queue.Queue()
def work():
    for k in range(1000):
        done(tasks.get())
threads = [threading.Thread(target=work) for _ in range(9)]
for one in threads:
    one.join()
"""


def test_waiting_for_own_threads_is_no_waiting() -> None:
    assert feature("import select\nselect.select(a, b, c)\n", "calls.waiting") > 0
    assert feature("convert a b &\nwait\n", "calls.waiting", "a.sh") == 0
    assert feature(WORKERS, "calls.waiting") == 0
    timed = "import threading\nstop = threading.Event()\nthreading.Thread(target=f).start()\n"
    assert feature(f"{timed}stop.wait(60)\n", "calls.waiting") > 0


PRODUCT = """program p
real(8), allocatable :: a(:,:), b(:,:), c(:,:)
integer :: n = 2000
allocate(a(n,n), b(n,n), c(n,n))
do jj = 1, n, 64
do kk = 1, n, 64
do j = jj, {}
do k = kk, {}
do i = 1, n
c(i,j) = c(i,j) + a(i,k) * b(k,j)
end do
end do
end do
end do
end do
end program
"""


def test_arrays_that_are_used_by_blocks_count_as_cached() -> None:
    blocked = PRODUCT.format("min(jj + 63, n)", "min(kk + 63, n)")
    assert feature(blocked, "value.over_cache", "a.f90") == 0
    assert feature(PRODUCT.format("n", "n"), "value.over_cache", "a.f90") == 1
    rows = "void f() { for (i = 0; i < n; i++) for (k = p[i]; k < p[i + 1]; k++) s += a[j[k]]; }"
    array = "double a[4000][4000]; "
    assert feature(array + rows, "value.over_cache", "a.c") == 1


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.c", "void f() { double *a = malloc(2000 * 2000), *b = malloc(2000 * 2000); {} }"),
        ("a.jl", "a = rand(2000, 2000); b = rand(2000, 2000)\n{}\n"),
        ("a.cpp", "void f() { MatrixXd a = MatrixXd::Random(2000, 2000), b = a; {} }"),
    ],
)
def test_a_product_of_matrices_uses_them_many_times(file: str, text: str) -> None:
    product = "cblas_dgemm(x, y, z, n, n, n, 1.0, a, n, b, n, 0.0, c, n);"
    product = product if file == "a.c" else "c = a * b;"
    assert feature(text.replace("{}", product), "value.over_cache", file) == 0
    assert feature(text.replace("{}", "s = a[1] + b[1];"), "value.over_cache", file) == 1


@pytest.mark.parametrize(
    ("work", "over"),
    [("t = i * 2", 1.0), ("for (int k = 0; k < 500; k++) t = t * 2 + t * t", 0.0)],
)
def test_a_large_array_that_is_seldom_touched_does_not_count(work: str, over: float) -> None:
    text = (
        "int main() { const int n = 4000000; double *a = malloc(n * sizeof(double));\n"
        f"for (int i = 0; i < n; i++) {{ double t = 0; {work}; a[i] = t; }} }}\n"
    )
    found = dict(zip(FEATURES, features_of(read_text(text, "a.c")), strict=True))
    assert (found["value.over_cache"], found["value.in_cache"]) == (over, 1 - over)


def test_nodes_that_are_allocated_one_by_one_are_large_together() -> None:
    node = "for (i = 0; i < 4000000; i++) {{ Node *n = {}; n->next = p; p = n; }}"
    for made in ("malloc(sizeof(Node))", "new Node(i)"):
        text = f"void f() {{ {node.format(made)} }}"
        assert feature(text, "value.array", "a.cpp") == pytest.approx(22, abs=1)


@pytest.mark.parametrize("run", ["./sum 1024", "srun -n 1 ./sum 1024", "$PWD/sum 1024"])
def test_what_is_compiled_gets_the_arguments_of_its_run(tmp_path: Path, run: str) -> None:
    source = "int main(int c, char **argv) { for (i = 0; i < atoi(argv[1]); i++) fsync(i); }"
    (tmp_path / "sum.c").write_text(source)
    (tmp_path / "job.sh").write_text(f"cc -O2 -o sum sum.c\n{run}\n")
    found = features_of(read_program(tmp_path / "job.sh"))
    runs = dict(zip(FEATURES, found, strict=True))["runs.sync"]
    assert runs == pytest.approx(10, abs=0.01)
