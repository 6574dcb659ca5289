import argparse
import json
import math

LAST_DAY = 3650


def step(eddy, day):
    lon, lat = eddy
    return [lon - 0.03 * math.cos(math.radians(lat)), lat + 0.002 * math.sin(day / 40)]


ap = argparse.ArgumentParser()
ap.add_argument("--state", required=True)
ap.add_argument("--days", type=int, default=10)
a = ap.parse_args()
with open(a.state) as fh:
    st = json.load(fh)
end = min(st["day"] + a.days, LAST_DAY)
while st["day"] < end:
    st["eddies"] = [step(e, st["day"]) for e in st["eddies"]]
    st["day"] += 1
with open(a.state, "w") as fh:
    json.dump(st, fh)
print("day", st["day"], "of", LAST_DAY)
