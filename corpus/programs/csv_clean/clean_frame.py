import sys

import pandas as pd

for attempt in range(int(sys.argv[2])):
    orders = pd.read_csv(sys.argv[1], sep=";", dtype=str)
    orders["customer"] = orders["customer"].str.strip().str.replace(r"\s+", " ", regex=True)
    orders["amount"] = orders["amount"].str.replace(",", ".").astype(float)
    orders["date"] = pd.to_datetime(orders["date"], format="%d.%m.%Y")
    orders["late"] = orders["note"].fillna("").apply(lambda text: text.count("late"))
    monthly = orders.groupby([orders["date"].dt.month, "customer"])["amount"].agg(["sum", "median", "count"])
    worst = orders.sort_values(["late", "amount"], ascending=False).head(20)
    monthly.to_csv("monthly.csv")
    print(len(monthly), worst["amount"].sum())
