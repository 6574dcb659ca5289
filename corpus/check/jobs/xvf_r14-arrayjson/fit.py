import argparse
import json
import random
from pathlib import Path


def fit(seed: int) -> dict:
    rng = random.Random(seed)
    xs = [rng.uniform(0, 1) for _ in range(200)]
    ys = [2 * x + rng.gauss(0, 0.1) for x in xs]
    slope = sum(x * y for x, y in zip(xs, ys)) / sum(x * x for x in xs)
    return {"seed": seed, "slope": slope}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--outdir", type=Path, default=Path("."))
    a = ap.parse_args()
    target = a.outdir / "fit.json"
    target.write_text(json.dumps(fit(a.seed)))


main()
