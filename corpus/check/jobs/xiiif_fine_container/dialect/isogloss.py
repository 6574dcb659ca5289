import csv
import sys

from .geo import km


def main(table, word):
    with open(table, newline="", encoding="utf-8") as fh:
        rows = [r for r in csv.DictReader(fh, delimiter="\t") if r["word"] == word]
    places = [((float(r["lat"]), float(r["lon"])), r["form"], r["place"]) for r in rows]
    for i, (p, form, name) in enumerate(places):
        near = min((km(p, q), other, f) for j, (q, f, other) in enumerate(places) if j != i)
        mark = "|" if near[2] != form else " "
        print(f"{mark} {name:12} {form:8} next {near[1]} {near[0]:.0f} km")


if __name__ == "__main__":
    main(*sys.argv[1:3])
