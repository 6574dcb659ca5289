import sys

import numpy as np
import pandas as pd

days = int(sys.argv[1])
symbols = int(sys.argv[2])
index = pd.date_range("2000-01-01", periods=days, freq="D")
rng = np.random.default_rng(0)
best = {}
for s in range(symbols):
    price = pd.Series(100 * np.exp(np.cumsum(rng.normal(0, 0.01, days))), index=index)
    fast, slow = price.rolling(20).mean(), price.ewm(span=100).mean()
    position = (fast > slow).astype(float).shift().fillna(0.0)
    gain = (price.pct_change().fillna(0.0) * position).resample("ME").sum()
    best[f"S{s}"] = gain.std() and gain.mean() / gain.std()
print(pd.Series(best).nlargest(5))
