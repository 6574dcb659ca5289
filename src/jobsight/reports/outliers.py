"""Rates that are higher than chance allows, of many users or nodes compared at once.

Each rate is compared with that of all others in the same group of like jobs. What happens to jobs
comes in clusters (a user's jobs of one day fail together), so n jobs count as n / d:
d = 1 + (m - 1) ρ is the design effect of Kish (1965), with m the mean size of a job's cluster and ρ
the intra-class correlation, pooled over all that are compared. With counts divided by d the methods
for independent trials hold (Rao and Scott, Biometrics 48, 1992): the exact binomial test,
one-sided, with 1 / (1 / n + 1 / k) trials, as the rate of k others is known from k jobs only. Those
called higher than chance are chosen by Benjamini and Hochberg (J. R. Statist. Soc. B 57, 1995): of
them a share of at most `FALSE` is expected to be there by chance. Intervals are those of Clopper
and Pearson (1934), at the level that keeps that share for them too (Benjamini and Yekutieli, JASA
100, 2005).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

__all__ = ["FALSE", "higher_than_chance"]

FALSE = 0.05
"""Expected share of those named that are so by chance alone."""
_LEAST, _EVEN = 20, 3.0
"""Fewer jobs, or jobs in so few clusters of even size, are not compared."""
_TINY = 1e-9


def higher_than_chance(trials: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Items with a higher rate than others, by adjusted p-value; and how many were compared.

    Of each: `name`, `jobs`, `clusters`, `rate`, `low`, `high`, `expected` (the rate of others),
    `p_adjusted`.

    Args:
        trials: one row per job: `name` of the item, `like` (jobs with the same are compared) and
            `cluster`, of any types, and `happened` bool. Rows without a name do not count.
    """
    from scipy import stats

    groups = trials.drop_nulls("name").group_by("name", "like", "cluster", maintain_order=True)
    clusters = groups.agg(
        size=pl.len().cast(pl.Float64), hits=pl.col("happened").sum().cast(pl.Float64)
    )
    even = pl.col("jobs") >= _EVEN * pl.col("mean_size")
    items = _items(clusters).filter(pl.col("jobs") >= _LEAST, even).sort("name")
    if not len(items):
        return items.drop("mean_size", "others"), 0
    jobs, others, rate, hits_of_others, mean_size = (
        items[name].to_numpy() for name in ("jobs", "others", "rate", "expected", "mean_size")
    )
    effect = 1.0 + (mean_size - 1.0) * _correlation(clusters)
    expected = (hits_of_others * others + 0.5) / (others + 1.0)
    compared = jobs / (1.0 + jobs / others) / effect
    p_values = np.where(rate > 0, _tail(stats, rate * compared, compared, expected), 1.0)
    adjusted = stats.false_discovery_control(p_values)
    side = FALSE * max(int((adjusted <= FALSE).sum()), 1) / len(items) / 2
    size = jobs / effect
    hits, misses = np.maximum(rate * size, _TINY), np.maximum((1 - rate) * size, _TINY)
    named = items.drop("mean_size", "others").with_columns(
        low=pl.Series(np.where(rate > 0, stats.beta.ppf(side, hits, misses + 1), 0.0)),
        high=pl.Series(np.where(rate < 1, stats.beta.ppf(1 - side, hits + 1, misses), 1.0)),
        p_adjusted=pl.Series(adjusted),
    )
    return named.filter(pl.col("p_adjusted") <= FALSE).sort("p_adjusted", "name"), len(items)


def _tail(stats: Any, hits: Any, size: Any, rate: Any) -> Any:
    """The chance of at least so many hits; the beta distribution has it for parts of trials too."""
    return stats.beta.cdf(rate, np.maximum(hits, _TINY), size - hits + 1)


def _items(clusters: pl.DataFrame) -> pl.DataFrame:
    """Of each item, among jobs that others have the like of: rates, its own and that of others."""
    size, hits = pl.col("size"), pl.col("hits")
    parts = clusters.group_by("name", "like", maintain_order=True).agg(
        size.sum(), hits.sum(), clusters=pl.len(), squares=(size**2).sum()
    )
    others = size.sum().over("like") - size
    parts = parts.with_columns(
        others=others, rate_of_others=(hits.sum().over("like") - hits) / others
    ).filter(pl.col("others") > 0)  # fmt: skip
    total = size.sum()
    return parts.group_by("name", maintain_order=True).agg(
        jobs=total, clusters=pl.col("clusters").sum(), rate=hits.sum() / total,
        expected=(pl.col("rate_of_others") * size).sum() / total,
        others=pl.col("others").sum(), mean_size=pl.col("squares").sum() / total,
    )  # fmt: skip


def _correlation(clusters: pl.DataFrame) -> float:
    """The intra-class correlation: that of two jobs of one cluster, each job counting alike.

    Mean product of the deviations of pairs from their item's rate, over the mean variance. A
    cluster that has a share w of its item's jobs pulls the rate its way, hence 1 / (1 - w).
    """
    size, hits, rate = pl.col("size"), pl.col("hits"), pl.col("rate")
    of_items = clusters.group_by("name", "like", maintain_order=True).agg(
        rate=hits.sum() / size.sum(), of=size.sum(), mean_size=(size**2).sum() / size.sum()
    )
    shared = clusters.filter(size > 1).join(of_items, on=["name", "like"], nulls_equal=True)
    shared = shared.filter(pl.col("of") >= _EVEN * pl.col("mean_size"))
    squares = hits * (1 - rate) ** 2 + (size - hits) * rate**2
    together = (hits - size * rate) ** 2 / (1 - size / pl.col("of"))
    pairs = (together - squares) / (size - 1)
    products, variance = shared.select(pairs.sum(), (size * rate * (1 - rate)).sum()).row(0)
    return min(max(products / variance, 0.0), 1.0) if variance else 0.0
