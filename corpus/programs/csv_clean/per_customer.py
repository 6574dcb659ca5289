"""One CSV file per customer (the portal reads them while they are written, so each is synced)."""
import os
import sys

import pandas as pd

orders = pd.read_csv(sys.argv[1], sep=";", skipinitialspace=True)
os.makedirs("customers", exist_ok=True)
for month in range(1, int(sys.argv[2]) + 1):
    for name, part in orders.groupby("customer"):
        path = f"customers/{name.strip().replace(' ', '_')}.csv"
        with open(path, "a") as out:
            out.write("".join(f"{order},{month}\n" for order in part["order"]))
            out.flush()
            os.fsync(out.fileno())
print(len(os.listdir("customers")))
