import argparse
import csv
import json
import random
from pathlib import Path


def main():
    ap = argparse.ArgumentParser(prog="walker")
    ap.add_argument("--config", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    a = ap.parse_args()
    cfg = json.loads(a.config.read_text())
    rng = random.Random(cfg["seed"])
    x = 0
    with a.out.open("w", newline="") as fh:
        out = csv.writer(fh)
        for t in range(cfg["steps"]):
            x += rng.choice((-1, 1))
            out.writerow((t, x))


main()
