import argparse
import csv
import json


def poly(c, x):
    y = 0.0
    for k in reversed(c):
        y = y * x + k
    return y


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    ap.add_argument("--raw", required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()

    with open(a.config) as fh:
        cfg = json.load(fh)

    rows = []
    with open(a.raw, newline="") as fh:
        for r in csv.DictReader(fh):
            s = cfg["sensors"][r["sensor"]]
            if not s.get("enabled", True):
                continue
            rows.append((r["time"], r["sensor"], poly(s["coeffs"], float(r["volts"]))))

    with open(a.out, "w", newline="") as fh:
        w = csv.writer(fh)
        w.writerow(("time", "sensor", cfg["unit"]))
        w.writerows(rows)


if __name__ == "__main__":
    main()
