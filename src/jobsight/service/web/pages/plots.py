"""Series over time as uPlot takes them: a column of times in seconds, then one per series."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["outage_plot"]

_MOST_SERIES = 6


def outage_plot(found: Mapping[str, Any], by: str) -> dict[str, Any]:
    """New holds per step, those of the busiest causes, sites or origins.

    Args:
        found: see `Site.outages`.
        by: ``causes``, ``sites`` or ``origins``.

    Returns:
        ``data``: JSON of the plot; ``rows``: name, counts, total and the latest step with a hold
        (µs, or None) of every series, the busiest first; ``most``: the largest count.
    """
    rows = []
    for one in found[by]:
        last = max((t for t, n in zip(found["times"], one["counts"], strict=True) if n), default=0)
        rows.append(
            {
                "name": one["name"],
                "counts": one["counts"],
                "total": sum(one["counts"]),
                "last": last,
            }
        )
    rows.sort(key=lambda row: -row["total"])
    shown = [row for row in rows if row["total"]][:_MOST_SERIES]
    columns = [[one / 1e6 for one in found["times"]], *(row["counts"] for row in shown)]
    data = json.dumps({"names": [row["name"] for row in shown], "data": columns})
    most = max((max(row["counts"], default=0) for row in rows), default=0)
    return {"data": data, "rows": rows, "most": most}
