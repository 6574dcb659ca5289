import argparse

ap = argparse.ArgumentParser()
ap.add_argument("--sst", required=True)
ap.add_argument("--out", required=True)
a = ap.parse_args()

air = 12.0
with open(a.sst) as src, open(a.out, "w") as out:
    for line in src:
        month, t = line.split()
        air += 0.3 * (float(t) - air)
        out.write(f"{air:.4f}\n")
