"""Add customer data to orders with pandas."""
import sys

import numpy as np
import pandas as pd

orders_n, customers_n, rounds = map(int, sys.argv[1:4])
rng = np.random.default_rng(10)
customers = pd.DataFrame({
    "customer": rng.permutation(customers_n),
    "country": rng.choice(["de", "fr", "pl", "it"], customers_n),
    "since": rng.integers(1990, 2025, customers_n),
})
for _ in range(rounds):
    orders = pd.DataFrame({
        "customer": rng.integers(0, customers_n, orders_n),
        "amount": rng.gamma(2.0, 30.0, orders_n),
    })
    both = orders.merge(customers, on="customer", how="left")
    print(both.groupby(["country", "since"])["amount"].mean().max())
