"""A tiny make: targets with dependencies, run when out of date."""
import os
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
points, customers = int(sys.argv[1]), sys.argv[2]
rules = {
    f"load{k}.txt": ([], [sys.executable, here / "queue_model.py", str(k / (points + 1)), customers])
    for k in range(1, points + 1)
}
rules["all.txt"] = (list(rules), ["sort", "-g", *rules])


def stale(target, needs):
    if not os.path.exists(target):
        return True
    return any(os.path.getmtime(need) > os.path.getmtime(target) for need in needs)


def build(target):
    needs, command = rules[target]
    for need in needs:
        build(need)
    if stale(target, needs):
        print("building", target)
        with open(target, "w") as out:
            subprocess.run([str(word) for word in command], stdout=out, check=True)


build("all.txt")
print(Path("all.txt").read_text())
