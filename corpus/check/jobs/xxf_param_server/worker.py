import argparse
import json
import os
import random
from urllib.request import Request, urlopen

ap = argparse.ArgumentParser()
ap.add_argument("--rank", type=int)
ap.add_argument("--steps", type=int)
a = ap.parse_args()
url = "http://127.0.0.1:%s/" % os.environ["PORT"]
rng = random.Random(a.rank)
for s in range(a.steps):
    w = json.load(urlopen(url))
    g = [x - 1.0 + rng.gauss(0, 0.1) for x in w]
    urlopen(Request(url, data=json.dumps(g).encode(), method="POST"))
    if s % 1000 == 0:
        print(s, sum((x - 1) ** 2 for x in w), flush=True)
