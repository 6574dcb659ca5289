"""Run queue_model.py for a range of loads and collect one table."""
import subprocess
import sys
from pathlib import Path

points, customers = int(sys.argv[1]), sys.argv[2]
model = Path(__file__).with_name("queue_model.py")
rows = []
for k in range(1, points + 1):
    done = subprocess.run(
        [sys.executable, str(model), f"{k / (points + 1):.3f}", customers],
        capture_output=True, text=True, timeout=600, check=True,
    )
    rows.append(done.stdout.split())
with open("table.csv", "w") as out:
    out.writelines(",".join(row) + "\n" for row in rows)
print(max(rows, key=lambda row: float(row[1])))
