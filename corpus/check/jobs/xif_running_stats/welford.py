import argparse
import json
import os


class Running:
    """Welford's online mean and variance."""

    def __init__(self, name):
        self.name = name
        self.count = 0
        self.mean = 0.0
        self.m2 = 0.0

    def push(self, x):
        self.count += 1
        d = x - self.mean
        self.mean += d / self.count
        self.m2 += d * (x - self.mean)

    def summary(self):
        var = self.m2 / (self.count - 1) if self.count > 1 else None
        return {"name": self.name, "n": self.n_count, "mean": self.mean, "var": var}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("files", nargs="+")
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    res = []
    for f in a.files:
        r = Running(os.path.basename(f))
        with open(f) as fh:
            for line in fh:
                r.push(float(line))
        res.append(r.summary())
    with open(a.out, "w") as fh:
        json.dump(res, fh, indent=1)


main()
