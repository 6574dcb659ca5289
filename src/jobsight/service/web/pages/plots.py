"""Series over time as uPlot takes them: a column of times in seconds, then one per series."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["outage_plot", "week_plot"]

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
        name = next(str(value) for value in one.values() if isinstance(value, str))
        last = max((t for t, n in zip(found["times"], one["counts"], strict=True) if n), default=0)
        rows.append(
            {"name": name, "counts": one["counts"], "total": sum(one["counts"]), "last": last}
        )
    rows.sort(key=lambda row: -row["total"])
    shown = [row for row in rows if row["total"]][:_MOST_SERIES]
    times = [one / 1e6 for one in found["times"]]
    data = _json(times, [(row["name"], row["counts"]) for row in shown], "bars")
    most = max((max(row["counts"], default=0) for row in rows), default=0)
    return {"data": data, "rows": rows, "most": most}


def week_plot(weeks: Sequence[Mapping[str, Any]]) -> str | None:
    """Log loss by week of each model; None where fewer than two weeks have one."""
    known = [one for one in weeks if one["week"] is not None and one["log_loss"] is not None]
    names = sorted({one["week"] for one in known})
    if len(names) < 2:
        return None
    series = []
    for model in dict.fromkeys(one["model"] for one in known):
        of_model = {one["week"]: one["log_loss"] for one in known if one["model"] == model}
        series.append((model, [of_model.get(name) for name in names]))
    times = [dt.datetime.fromisoformat(name).replace(tzinfo=dt.UTC).timestamp() for name in names]
    return _json(times, series, "lines")


def _json(
    times: Sequence[float], series: Sequence[tuple[str, Sequence[float | None]]], kind: str
) -> str:
    named = [name for name, _ in series]
    return json.dumps({"kind": kind, "names": named, "data": [times, *(one for _, one in series)]})
