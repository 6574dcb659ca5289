#!/usr/bin/env python3
import argparse
import csv
import pathlib

p = argparse.ArgumentParser()
p.add_argument("--points", type=pathlib.Path, required=True)
p.add_argument("-k", type=int, nargs="+", default=[2])
p.add_argument("--outdir", type=pathlib.Path, default=pathlib.Path("."))
a = p.parse_args()
with a.points.open(newline="") as fh:
    pts = sorted(float(r["x"]) for r in csv.DictReader(fh))
(a.outdir / "tmp").mkdir(parents=True, exist_ok=True)
with (a.outdir / "summary.txt").open("w") as s:
    for k in a.k:
        d = a.outdir / f"k{k}"
        d.mkdir(exist_ok=True)
        gaps = sorted(range(1, len(pts)), key=lambda i: pts[i - 1] - pts[i])[:k - 1]
        cut = [0, *sorted(gaps), len(pts)]
        (d / "part.txt").write_text("\n".join(str(pts[i:j]) for i, j in zip(cut, cut[1:])) + "\n")
        s.write(f"{k} {len(cut) - 1}\n")
