"""JSON lines to a column file, with types; the usual nightly conversion."""
import sys

import pandas as pd

frame = pd.read_json(sys.argv[1], lines=True)
frame["lat"] = frame["geo"].map(lambda g: g["lat"])
frame["lon"] = frame["geo"].map(lambda g: g["lon"])
frame["first_tag"] = frame["tags"].str[0].astype("category")
frame["spread"] = frame["values"].map(max) - frame["values"].map(min)
frame.drop(columns=["geo", "tags", "values"]).to_parquet("records.parquet")
print(frame.groupby("first_tag", observed=True)["spread"].describe())
