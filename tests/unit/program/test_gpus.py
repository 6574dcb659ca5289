"""GPUs that are asked for and not used, and used and not asked for."""

from __future__ import annotations

import pytest
from tests.unit.program.checking import found

SLURM = "#!/bin/bash\n#SBATCH --mem=1G --time=10{asked}\nmodule load lang/1.0\n"
_CODES = ("JS213", "JS214")


def of_gpus(text: str, asked: str = "") -> list[tuple[str, int, str]]:
    return [one for one in found(SLURM.replace("{asked}", asked) + text) if one[2] in _CODES]


_FOREST = "from sklearn.ensemble import RandomForestClassifier\nfrom tools import rows\n"
_FOREST += "accuracy = 0\nfor row in rows():\n    accuracy += 1\nprint(accuracy)\n=== tools.py\n"
_ROWS = "import csv\ndef rows():\n    return [1]\n"


@pytest.mark.parametrize(
    ("call", "module", "idle"),
    [
        ("nvidia-smi -L || true\npython3 a.py", _ROWS, True),
        ("python3 a.py\n./other", _ROWS, False),
        ("python3 a.py", f"import subprocess\n{_ROWS}subprocess.run(['gmx'])\n", False),
    ],
)
def test_programs_for_cpus_alone(call: str, module: str, idle: bool) -> None:
    wrong = [("job.sh", 2, "JS213")] if idle else []
    text = f"{call}\n=== a.py\n{_FOREST}{module}"
    assert of_gpus(text, " --gres=gpu:a100:2") == wrong


_CUDA = "#include <cstdio>\n__global__ void f() {}\nint main() { f<<<1, 1>>>(); return 0; }\n"
_MAKE = "=== Makefile\nNVCC ?= nvcc\nsim: sim.cu\n\t$(NVCC) -O3 -o $@ $<\n"


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("nvcc -O3 -o sim sim.cu\nsrun ./sim", [5]),
        ("cmake -B build && cmake --build build\nbuild/sim", [5]),
        ("nvcc -o sim sim.cu", []),
        ("make sim CC=gcc\n./sim\n=== sim.cpp\nint main() { return 0; }\n", []),
    ],
)
def test_a_program_that_is_compiled_for_gpus(script: str, wrong: list[int]) -> None:
    text = f"{script}\n=== sim.cu\n{_CUDA}"
    assert of_gpus(text) == [("job.sh", line, "JS214") for line in wrong]
    for asked in (" --gpus=1", " --exclusive"):
        assert "JS214" not in {code for _, _, code in of_gpus(text, asked)}
    assert of_gpus(text.replace("f<<<", "int n; cudaGetDeviceCount(&n); f<<<")) == []


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("gmx mdrun -nb gpu -deffnm md", [4]),
        ("gmx mdrun -nb auto -deffnm md", []),
    ],
)
def test_programs_that_are_called_for_gpus(script: str, wrong: list[int]) -> None:
    assert of_gpus(script) == [("job.sh", line, "JS214") for line in wrong]


def test_a_second_part_of_the_job_may_have_the_gpus() -> None:
    second = "\n#SBATCH hetjob\n#SBATCH -G1"
    assert of_gpus("srun --het-group=1 pmemd.cuda -i md.in\n", second) == []
