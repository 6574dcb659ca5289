"""Join small frames in many ways and report the sizes."""
import sys

import numpy as np
import pandas as pd

rng = np.random.default_rng(2)
rounds = int(sys.argv[1])
people = pd.DataFrame({"id": range(600), "town": [f"town{k % 40}" for k in range(600)]})
for r in range(rounds):
    visits = pd.DataFrame({"id": rng.integers(0, 700, 5000), "day": rng.integers(0, 30, 5000)})
    for how in ("inner", "left", "outer"):
        joined = people.merge(visits, on="id", how=how)
        per_town = joined.groupby("town")["day"].apply(lambda d: d.rolling(5).mean().max())
        late = joined.assign(label=joined["town"].str.upper() + "/" + joined["day"].astype(str))
        counts = late["label"].value_counts()
    print(r, len(joined), round(per_town.mean(), 2), counts.iloc[0])
