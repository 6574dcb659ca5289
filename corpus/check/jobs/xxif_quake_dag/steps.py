#!/usr/bin/env python3
import csv
import math
import sys


def rows(path):
    with open(path, newline="") as fh:
        return list(csv.DictReader(fh))


def save(path, fields, data):
    with open(path, "w", newline="") as fh:
        wr = csv.writer(fh)
        wr.writerow(fields)
        wr.writerows(data)


def pick(src, dst):
    save(dst, ["station", "time", "amplitude"],
         [(r["station"], r["time"], r["amplitude"]) for r in rows(src) if float(r["amplitude"]) > 0.5])


def locate(src, dst):
    t = [float(r["time"]) for r in rows(src)]
    save(dst, ["origin", "n"], [(min(t) - 2.0, len(t))])


def magnitude(src, dst):
    amp = [float(r["amplitude"]) for r in rows(src)]
    save(dst, ["ml"], [(math.log10(max(amp)) + 3.0,)])


def report(loc, mag, dst):
    with open(dst, "w") as fh:
        fh.write(f"origin {rows(loc)[0]['origin']} ML {rows(mag)[0]['ml']}\n")


if __name__ == "__main__":
    {"pick": pick, "locate": locate, "magnitude": magnitude, "report": report}[sys.argv[1]](*sys.argv[2:])
