import argparse
import math

from tqdm import tqdm
from tabulate import tabulate

import scanlib

p = argparse.ArgumentParser()
p.add_argument("--settings", required=True)
p.add_argument("--out", required=True)
o = p.parse_args()

s = scanlib.settings(o.settings)
table = []
for deg in tqdm(range(s["from"], s["to"] + 1, s["step"])):
    e = scanlib.energy(math.radians(deg), s["v1"], s["v2"], s["v3"])
    table.append((deg, round(e, 4)))

with open(o.out, "w") as fh:
    fh.write(tabulate(table, headers=["dihedral", "E/kJ"]))
    fh.write("\n")
