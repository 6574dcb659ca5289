"""A trace played again on nodes that jobs share, alone, packed, or with tokens.

Jobs start in order of submission where they fit; the first that does not is reserved the node that
will be free for it first by the limits of what runs, and later jobs start before it only if they
leave that alone (EASY backfill, Lifka 1995). A job takes the node that it fills best. Jobs larger
than a node take whole nodes. Next to others a job runs at the speed 1 / slowdown, by the model of
`jobsight.acting.sharing.slowdown`; at each start and end on its node the work that remains goes on
at the new speed.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jobsight.acting.sharing.slowdown import Matrix
from jobsight.acting.sharing.vectors import RESOURCES, Vector, of_node
from jobsight.errors import SourceError
from jobsight.jit import helper, kernel

__all__ = ["ARMS", "Fidelity", "Trace", "drawn", "fidelity", "play", "replayed", "result"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ARMS = ("exclusive", "packing", "tokens")
"""A node for one job; as many as fit; as many as fit with their tokens."""
_DEPTH = 100
_HOUR = 3600.0
_DONE = 1e-6
_SIZES = (1, 2, 8, 64)
"""Size classes of jobs: at least so many CPUs."""


class Trace(NamedTuple):
    """Jobs that ran, by submission.

    Attributes:
        submit, runtime, limit: seconds; submit from the first one on.
        wait: seconds that each waited where it ran.
        cpus: of each.
        kind: number of the user and name of each: jobs of one kind do the same.
        nodes, cpus_each: of the cluster.
    """

    submit: Floats
    runtime: Floats
    limit: Floats
    wait: Floats
    cpus: Ints
    kind: Ints
    nodes: int
    cpus_each: int

    @classmethod
    def of(
        cls, table: pl.DataFrame, nodes: int, cpus_each: int, days: float | None = None
    ) -> Trace:
        """The jobs of a job table that ran, of its first days.

        Raises:
            SourceError: none did.
        """
        ran = table.filter(
            pl.col("start").is_not_null()
            & (pl.col("end") > pl.col("start"))
            & (pl.coalesce("cpus", "request_cpus") > 0)
        ).sort("submit")
        ran = ran.filter(pl.coalesce("cpus", "request_cpus") <= nodes * cpus_each)
        if days is not None and len(ran):
            ran = ran.filter(pl.col("submit") < ran["submit"][0] + dt.timedelta(days=days))
        if not len(ran):
            raise SourceError("no job of the history has a start, an end and CPUs")
        submit, start, end = (
            ran[name].to_physical().to_numpy().astype(float) / 1e6
            for name in ("submit", "start", "end")
        )
        runtime = end - start
        asked = ran["time_limit_s"].cast(pl.Float64).fill_null(-1.0).to_numpy()
        name = pl.struct(pl.coalesce("owner", "account"), pl.col("name"))
        counted = ran.select(
            cpus=pl.coalesce("cpus", "request_cpus").cast(pl.Int64),
            kind=name.rank("dense").cast(pl.Int64) - 1,
        )
        return cls(
            submit=submit - submit[0],
            runtime=runtime,
            limit=np.where(asked > 0, np.maximum(asked, runtime), 2 * runtime),
            wait=start - submit,
            cpus=counted["cpus"].to_numpy(),
            kind=counted["kind"].to_numpy(),
            nodes=nodes,
            cpus_each=cpus_each,
        )


def drawn(trace: Trace, matrix: Matrix, seed: int) -> tuple[Floats, Floats]:
    """Shares of a node and tokens of each job (jobs, resources): drawn for each kind of job.

    A trace does not say what its jobs use: each kind is given one of the programs of the matrix.
    """
    random = np.random.default_rng(seed)
    node = matrix.node()._replace(cpus=trace.cpus_each)
    node = node._replace(saturating=matrix.node().saturating / matrix.cpus * trace.cpus_each)
    programs = list(matrix.shares.values())
    chosen = random.integers(len(programs), size=int(trace.kind.max()) + 1)[trace.kind]
    shares = np.zeros((len(trace.cpus), len(RESOURCES)))
    tokens = np.zeros_like(shares)
    for number, program in enumerate(programs):
        for cpus in np.unique(trace.cpus[chosen == number]):
            vector = Vector(of_node(program, int(min(cpus, trace.cpus_each)), node), "")
            rows = (chosen == number) & (trace.cpus == cpus)
            shares[rows] = [vector.shares.get(name, 0.0) for name in RESOURCES]
            tokens[rows] = [vector.tokens().get(name, 0) for name in RESOURCES]
    cpu = list(RESOURCES).index("cpu")
    tokens[:, cpu] = 0.0  # the scheduler separates CPUs by itself
    shares[:, cpu] = 0.0
    return shares, tokens


def play(trace: Trace, arm: str, shares: Floats, tokens: Floats, weights: Floats) -> Floats:
    """Begin and end of each job, seconds (2, jobs)."""
    played: Floats = _play(
        trace.submit, trace.runtime, trace.limit, trace.cpus, tokens, shares, weights,
        trace.nodes, trace.cpus_each, ARMS.index(arm), _DEPTH,
    )  # fmt: skip
    return played


def result(trace: Trace, played: Floats) -> dict[str, float]:
    """What an arm comes to.

    Returns:
        throughput (CPU-seconds of work per second, until the last submission), wait_s (mean),
        slowdown (mean), slowdown_95 (95th percentile), slower (share of jobs slower by over 10 %).
    """
    begin, end = played
    slow = (end - begin) / trace.runtime
    until = max(trace.submit[-1], 1.0)
    done = np.clip((until - begin) / (end - begin), 0.0, 1.0)
    return {
        "throughput": float((trace.runtime * trace.cpus * done).sum() / until),
        "wait_s": float((begin - trace.submit).mean()),
        "slowdown": float(slow.mean()),
        "slowdown_95": float(np.quantile(slow, 0.95)),
        "slower": float((slow > 1.1).mean()),
    }


def replayed(
    trace: Trace, matrix: Matrix, draws: int, show: Callable[[int, int], None]
) -> dict[str, dict[str, list[float]]]:
    """By arm and figure of `result`, one number for each draw.

    Throughput and wait are relative to exclusive nodes: 0.2 is a fifth more.
    """
    found: dict[str, dict[str, list[float]]] = {arm: defaultdict(list) for arm in ARMS}
    weights = np.array([matrix.weights().by_resource[name] for name in RESOURCES])
    for draw in range(draws):
        shares, tokens = drawn(trace, matrix, draw)
        base: dict[str, float] = {}
        for number, arm in enumerate(ARMS):
            show(draw * len(ARMS) + number, draws * len(ARMS))
            each = result(trace, play(trace, arm, shares, tokens, weights))
            base = base or each
            for name, value in each.items():
                relative = name in ("throughput", "wait_s")
                found[arm][name].append(value / max(base[name], 1e-9) - 1 if relative else value)
    return {arm: dict(figures) for arm, figures in found.items()}


class Fidelity(NamedTuple):
    """How well a play of the trace without slowdowns fits what happened.

    Attributes:
        use: mean difference of the CPUs in use, hour by hour, as a part of the mean use.
        waits: median wait played over median wait recorded, in seconds, by least CPUs.
    """

    use: float
    waits: dict[int, tuple[float, float]]

    @property
    def refusal(self) -> str | None:
        """Why no gain may be published; None: the play fits."""
        if self.use > 0.1:
            return f"hourly use differs by {self.use:.0%}, by more than 10 %"
        for size, (ours, theirs) in self.waits.items():
            if not 0.5 <= (ours + 60) / (theirs + 60) <= 2:
                return (
                    f"jobs of {size} CPUs and more wait {ours:.0f} s, not {theirs:.0f} s (median)"
                )
        return None


def fidelity(trace: Trace) -> Fidelity:
    """How well the play fits the trace."""
    none = np.zeros((len(trace.cpus), len(RESOURCES)))
    played = play(trace, "packing", none, none, np.zeros(len(RESOURCES)))
    real = np.array([trace.submit + trace.wait, trace.submit + trace.wait + trace.runtime])
    hours = math.ceil(max(real.max(), played.max()) / _HOUR)
    ours, theirs = (_use(trace.cpus, one, hours) for one in (played, real))
    waits = {}
    for least, above in zip(_SIZES, (*_SIZES[1:], 1 << 62), strict=True):
        rows = (trace.cpus >= least) & (trace.cpus < above)
        if rows.sum() >= 20:
            wait = (played[0] - trace.submit)[rows]
            waits[least] = (float(np.median(wait)), float(np.median(trace.wait[rows])))
    return Fidelity(float(np.abs(ours - theirs).mean() / theirs.mean()), waits)


def _use(cpus: Ints, spans: Floats, hours: int) -> Floats:
    """Mean CPUs in use in each hour."""
    edges = np.arange(hours + 1) * _HOUR
    order = [np.argsort(each) for each in spans]
    sums = []
    for each, ranks in zip(spans, order, strict=True):
        times, counts = each[ranks], cpus[ranks].astype(float)
        # ∫ of the CPUs that have begun (or ended) by each edge.
        before = np.searchsorted(times, edges)
        total, moment = np.cumsum(np.r_[0.0, counts]), np.cumsum(np.r_[0.0, counts * times])
        sums.append(total[before] * edges - moment[before])
    use: Floats = np.diff(sums[0] - sums[1]) / _HOUR
    return use


@helper
def _slowdown(job: int, on: Ints, count: int, shares: Floats, weights: Floats) -> float:
    slow = 1.0
    for r in range(len(weights)):
        others = 0.0
        for k in range(count):
            if on[k] != job:
                others += shares[on[k], r]
        slow += weights[r] * shares[job, r] * others
    return slow


@helper
def _advance(node: int, now: float, state: Any) -> None:
    """Count the work done on a node since it last changed."""
    on, count, remaining, speed, since = state
    for k in range(count[node]):
        job = on[node, k]
        remaining[job] -= (now - since[node]) * speed[job]
    since[node] = now


@kernel
def _play(
    submit: Floats, runtime: Floats, limit: Floats, cpus: Ints, tokens: Floats, shares: Floats,
    weights: Floats, nodes: int, each: int, arm: int, depth: int,
) -> Floats:  # fmt: skip
    n, kinds = len(submit), len(weights)
    begin, end = np.full(n, np.nan), np.full(n, np.nan)
    on, count = np.full((nodes, each), -1, np.int64), np.zeros(nodes, np.int64)
    free, owner = np.full(nodes, each, np.int64), np.full(nodes, -1, np.int64)
    used = np.zeros((nodes, kinds))
    remaining, speed = runtime.copy(), np.ones(n)
    since, until = np.zeros(nodes), np.full(nodes, np.inf)
    following, first, last = np.full(n, -1, np.int64), -1, -1
    reserved, clear = np.zeros(nodes, np.bool_), np.zeros(nodes)
    state = (on, count, remaining, speed, since)
    arrived = ended = 0
    while ended < n:
        now = until.min()
        if arrived < n and submit[arrived] <= now:
            now = submit[arrived]
        while arrived < n and submit[arrived] <= now:
            if last == -1:
                first = arrived
            else:
                following[last] = arrived
            last = arrived
            arrived += 1
        for node in range(nodes):
            if until[node] > now:
                continue
            if owner[node] >= 0:
                job = owner[node]
                end[job] = now
                ended += 1
                for other in range(nodes):
                    if owner[other] == job:
                        owner[other], free[other], until[other] = -1, each, np.inf
                        since[other] = now
                continue
            _advance(node, now, state)
            kept = 0
            for k in range(count[node]):
                job = on[node, k]
                if remaining[job] <= _DONE:
                    end[job] = now
                    ended += 1
                    free[node] += cpus[job]
                    used[node] -= tokens[job]
                else:
                    on[node, kept] = job
                    kept += 1
            count[node] = kept
            if arm == 0:
                free[node] = each
            until[node] = np.inf
            for k in range(kept):
                job = on[node, k]
                slow = _slowdown(job, on[node], kept, shares, weights)
                speed[job] = 1.0 / slow
                until[node] = min(until[node], now + max(remaining[job], 0.0) * slow)
        # A pass of the scheduler.
        job, before, tried, shadow = first, -1, 0, np.inf
        blocked = False
        room = free.max()
        empty = 0
        for node in range(nodes):
            empty += owner[node] < 0 and count[node] == 0
        while job != -1 and tried < depth:
            after = following[job]
            ends = now + limit[job]
            wide = cpus[job] > each
            need = (cpus[job] + each - 1) // each if wide else 1
            best, most = -1, each + 1
            able = 0
            if wide:
                if empty >= need:
                    for node in range(nodes):
                        if owner[node] < 0 and count[node] == 0:
                            able += not blocked or ends <= shadow or not reserved[node]
            elif cpus[job] <= room:
                for node in range(nodes):
                    if owner[node] >= 0 or free[node] < cpus[job] or free[node] >= most:
                        continue
                    if arm == 0 and count[node] > 0:
                        continue
                    if blocked and reserved[node] and ends > shadow:
                        continue
                    fits = True
                    if arm == 2:
                        for r in range(kinds):
                            fits = fits and used[node, r] + tokens[job, r] <= 100.0
                    if fits:
                        best, most = node, free[node]
            if (wide and able >= need) or best >= 0:
                begin[job] = now
                if wide:
                    left = need
                    for node in range(nodes):
                        allowed = not blocked or ends <= shadow or not reserved[node]
                        if left and owner[node] < 0 and count[node] == 0 and allowed:
                            owner[node], free[node], until[node] = job, 0, now + runtime[job]
                            left -= 1
                            empty -= 1
                else:
                    _advance(best, now, state)
                    empty -= count[best] == 0
                    on[best, count[best]] = job
                    count[best] += 1
                    free[best] = 0 if arm == 0 else free[best] - cpus[job]
                    used[best] += tokens[job]
                    until[best] = np.inf
                    for k in range(count[best]):
                        other = on[best, k]
                        speed[other] = 1.0 / _slowdown(
                            other, on[best], count[best], shares, weights
                        )
                        until[best] = min(
                            until[best], now + max(remaining[other], 0.0) / speed[other]
                        )
                room = free.max()
                if before == -1:
                    first = after
                else:
                    following[before] = after
                if job == last:
                    last = before
            else:
                if not blocked:
                    blocked = True
                    shadow = _reserve(
                        job, now, need, wide, begin, limit, cpus, tokens, on, count, free, owner,
                        used, arm, reserved, clear,
                    )  # fmt: skip
                before = job
                tried += 1
            job = after
    out = np.empty((2, n))
    out[0], out[1] = begin, end
    return out


@kernel
def _reserve(
    job: int, now: float, need: int, wide: bool, begin: Floats, limit: Floats, cpus: Ints,
    tokens: Floats, on: Ints, count: Ints, free: Ints, owner: Ints, used: Floats, arm: int,
    reserved: Any, clear: Floats,
) -> float:  # fmt: skip
    """Mark the nodes that will be free for a job first, by limits; from when on they are."""
    nodes = len(count)
    reserved[:] = False
    for node in range(nodes):
        if owner[node] >= 0:
            clear[node] = max(begin[owner[node]] + limit[owner[node]], now)
            continue
        ends = np.sort(np.array([
            max(begin[on[node, k]] + limit[on[node, k]], now) for k in range(count[node])
        ] + [now]))  # fmt: skip
        if wide or arm == 0:
            clear[node] = ends[-1]
            continue
        clear[node] = np.inf
        for moment in ends:
            room, fits = free[node], True
            for k in range(count[node]):
                other = on[node, k]
                room += cpus[other] if begin[other] + limit[other] <= moment else 0
            if arm == 2:
                for r in range(tokens.shape[1]):
                    taken = used[node, r]
                    for k in range(count[node]):
                        other = on[node, k]
                        if begin[other] + limit[other] <= moment:
                            taken -= tokens[other, r]
                    fits = fits and taken + tokens[job, r] <= 100.0
            if room >= cpus[job] and fits:
                clear[node] = moment
                break
    order = np.argsort(clear)
    reserved[order[:need]] = True
    shadow: float = clear[order[need - 1]]
    return shadow
