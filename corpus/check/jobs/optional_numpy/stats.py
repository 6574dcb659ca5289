from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

try:
    import numpy as np
except ImportError:  # a plain installation
    np = None


def spread(values: list[float]) -> float:
    if np is not None:
        return float(np.std(values, ddof=1))
    return statistics.stdev(values)


def table(values: list[float]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"value": values})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("stats.json"))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("values", type=float, nargs="+")
    options = parser.parse_args()
    if options.table:
        print(table(options.values))
    options.out.write_text(json.dumps({"sd": spread(options.values)}))


if __name__ == "__main__":
    main()
