"""Features of a program, counted in its normalized tree; `FEATURES` says what each is.

Counts are of reached code outside of error handlers, as log2(1 + count). "Runs" is log2 of how
often something runs, see `Tree.runs`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jobsight.program.tree.indexing import IndexCounts, index_counts, one_of, reused
from jobsight.program.tree.normalized import Tree
from jobsight.program.tree.reach import within
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, EFFECTS, KIND_NUMBERS, ROLE_NUMBERS
from jobsight.text import wordlist, wordset

__all__ = ["FEATURES", "GROUPS", "features_of", "on_others", "reuses"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_PLAIN = [_K[one] for one in wordlist("arithmetic multiply divide bits compare index")]
_ELEMENTS = [_K[one] for one in wordlist("index pointer member")]
_COMPILED = frozenset({"c", "cpp", "cuda", "fortran", "go", "rust", "java", "julia"})
_BLAS = re.compile(r"(?:.*\.)?(?:cblas_)?[sdcz](?:gemm|symm|hemm|trmm|trsm|syrk|herk|syr2k)_?")
_MATRICES = re.compile(r"gemm|cov$|corrcoef$|matrix_power$|multi_dot$|crossprod$|\.mm$|bmm$")
_STARTS = [_E[one] for one in wordlist("thread launch mpi")]
_SHADOWS = [_E[one] for one in wordlist("wait lock queue barrier")]
_WHOLE = [_E[one] for one in wordlist("stream reduce gather copy dense fft sort solve table")]
_CHILDREN = wordset("wait waitpid wait3 wait4")
"""Calls that wait for children alone, whatever started them."""
_CACHE = 22
"""Size of an array that no cache holds: 2 to the 21 elements, 16 MB of numbers."""
_IN_CACHE = {"value.array": _CACHE - 1.0, "value.over_cache": 0.0, "value.in_cache": 1.0}
"""Of a program whose work uses each element of its arrays many times."""
_COSTS = {
    2: "math", 3: "random", 4: "sort", 5: "text", 6: "hash", 8: "parse read write print",
    10: "open metadata map compress solve", 12: "database send", 14: "receive model encode",
    16: "query", 18: "sync commit connect request", 20: "fetch transfer launch wait", 22: "compile",
    24: "sleep",
}  # fmt: skip
"""Log2 of the operations (ns) in the time of a call, by its effect: a guess at its magnitude."""
_COMMANDS = {
    **_COSTS, 16: "metadata", 20: "hash text parse read write launch", 26: "sleep",
    22: "compress sort table request query",
    24: "dense solve model compile encode fetch transfer sync",
}  # fmt: skip
"""The same of commands of the shell, which are whole programs."""


def _by_effect(costs: Mapping[int, str]) -> NDArray[np.float64]:
    known = {one: cost for cost, names in costs.items() for one in names.split()}
    return np.exp2([known.get(one, 0) for one in EFFECTS])


_COST = np.stack([_by_effect(_COSTS), _by_effect(_COMMANDS)])  # (a call or a command, effect)
_MANY = 64.0
"""Operations per element of a large array with which memory certainly keeps up."""
_INTERPRETED, _MISS = 32.0, 16.0
"""Operations in the time of one that is interpreted, and of an element that is in no cache."""

GROUPS: dict[str, tuple[str, ...]] = {
    "cpu": wordlist(
        "math dense fft solve model sort hash compress text parse random compile encode table"
    ),
    "memory": wordlist("stream reduce gather copy allocate"),
    "io": wordlist("open read write sync metadata map database commit"),
    "network": wordlist("connect fetch send request receive listen query transfer"),
    "waiting": wordlist("sleep wait lock queue barrier device"),
    "gpu": wordlist("gpu"),
    "launching": wordlist("launch thread each mpi"),
    "output": wordlist("print"),
    "open": wordlist("unknown"),
}
"""Effects that bind a program by the same resource; `open`: calls of no known effect."""

_COUNTED = {
    "loops": ("loop", "comprehension"), "definitions": ("function", "class"), "calls": ("call",),
    "loads": ("name", "member"), "assignments": ("assign", "update", "declare"),
    "branches": ("branch", "case"), "indexes": ("index", "pointer"),
    "arithmetic": ("arithmetic", "multiply", "divide", "bits"), "divisions": ("divide",),
    "comparisons": ("compare", "logic"), "texts": ("text",), "literals": ("literal",),
    "handlers": ("handler", "try"), "parallel": ("parallel",), "pipes": ("pipe",),
    "redirects": ("redirect",), "awaits": ("await",), "members": ("member",),
}  # fmt: skip
_RUNNING = ("arithmetic", "indexes", "calls", "loads", "comparisons", "assignments")
_CALLED = tuple(one for one in EFFECTS if one not in ("none", "cheap", "time", "serve", "prompt"))

FEATURES: dict[str, str] = {
    **{f"count.{one}": f"nodes of kind {' or '.join(k)}" for one, k in _COUNTED.items()},
    **{f"runs.{one}": f"runs of nodes of kind {' or '.join(_COUNTED[one])}" for one in _RUNNING},
    **{f"runs.{one}": f"runs of calls with effect `{one}`" for one in _CALLED},
    **{
        f"share.{one}": f"calls of the group {one}, of all in a group and plain operations, by time"
        for one in GROUPS
    },
    "share.plain": "operations that are not calls, of the same, by time",
    **{f"calls.{one}": f"number of calls of the group {one}" for one in GROUPS},
    **{f"deepest.{one}": f"most loops around calls of the group {one}; -1: none" for one in GROUPS},
    "size.lines": "log2 of lines of all texts",
    "size.texts": "programs that it runs, themselves among them",
    "size.nodes": "log2 of nodes",
    "size.imports": "log2 of 1 + imports",
    "size.unreached": "share of nodes that are not reached",
    "nesting.deepest": "most loops around a node, across functions",
    "nesting.lexical": "most loops around a node in its function",
    "nesting.mean": "mean of loops around nodes",
    "nesting.inner": "innermost loops",
    "nesting.work": "log2 of the most often that a node runs",
    "nesting.recursive": "log2 of 1 + calls of a function within itself",
    "value.number": "log2 of the largest number",
    "value.bound": "log2 of the largest bound of a loop",
    "value.array": "log2 of the elements of the largest allocation; 0: unknown",
    "value.over_cache": "whether an array has more elements than caches hold, used few times each",
    "value.in_cache": "whether all arrays are small, their elements are used many times, or seldom",
    "value.sleep": "log2 of 1 + the most seconds of a sleep",
    "inner.arithmetic": "arithmetic per loaded name or index in innermost loops",
    "inner.indexes": "indexing per arithmetic in innermost loops",
    "inner.calls": "calls per node in innermost loops",
    "inner.known": "calls of math, own or cheap functions per call in innermost loops",
    "inner.branches": "branches per node in innermost loops",
    "index.indirect": "runs of a[b[i]]",
    "index.strided": "runs of indexing where the inner loop moves over a slow index",
    "index.straight": "runs of indexing where the inner loop moves over the fast index",
    "index.chased": "runs of p = p.next in loops, or of p = next[p]",
    "index.interpreted": "runs of indexing, element by element, in an interpreted language",
    "handlers.sleep": "sleeps in error handlers, of all sleeps",
    "language.compiled": "share of nodes in a compiled language",
    "language.shell": "share of nodes in the shell",
}  # fmt: skip
"""Names of features, in the order of `features_of`, with their meaning."""


def features_of(tree: Tree) -> NDArray[np.float64]:
    """The features of a program, one number per name in `FEATURES`."""
    found = _Counter(tree).features()
    return np.array([found.get(name, 0.0) for name in FEATURES], np.float64)


def reuses(tree: Tree) -> NDArray[np.bool_]:
    """Calls (n,) that use each element of an array many times: products of matrices, solvers.

    A product is one of matrices where its operands have similar sizes.
    """
    found = (tree.effect == _E["solve"]) | (tree.effect == _E["dense"])
    for node in np.flatnonzero(found).tolist():
        name = tree.calls.get(node, "")
        if tree.effect[node] == _E["solve"]:
            found[node] = "sparse" not in name
        elif not _MATRICES.search(name) and not _BLAS.fullmatch(name):
            first, end = node + 1, int(tree.end[node])
            second = int(tree.end[first]) if first < end else end
            sizes = [int(tree.size[one]) for one in (first, second) if one < end]
            alike = len(sizes) == 2 and min(sizes) > 0 and abs(sizes[0] - sizes[1]) <= 3
            found[node] = alike or _BLAS.fullmatch(name) is not None
    return np.asarray(found)


def on_others(tree: Tree) -> NDArray[np.bool_]:
    """Calls (n,) that wait for threads and processes of the program itself.

    What binds it is what these do, and if they sleep, that is in the text, too. An event that is
    waited for a given time, ``stop.wait(5)``, is a sleep.
    """
    starts = one_of(tree.effect, _STARTS) | (tree.kind == _K["parallel"])
    found = one_of(tree.effect, _SHADOWS) & (starts & tree.reached).any()
    for node in np.flatnonzero(tree.effect == _E["wait"]).tolist():
        name = tree.calls.get(node, "")
        if name.removeprefix("os.") in _CHILDREN:
            found[node] = True
        elif name.endswith(".wait") and tree.size[node + 1 : tree.end[node]].any():
            found[node] = False
    return np.asarray(found)


def _log(value: float) -> float:
    return float(np.log2(1.0 + max(value, 0.0)))


class _Counter:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        length = len(tree)
        languages = [file.language for file in tree.files]
        self.compiled = np.array([one in _COMPILED for one in languages])[tree.file]
        self.shell = np.array([one == "bash" for one in languages])[tree.file]
        loops = one_of(tree.kind, (_K["loop"], _K["comprehension"])) | (tree.effect == _E["each"])
        self.loops = np.flatnonzero(loops)
        ends = tree.end[self.loops].astype(np.intp)
        self.runs = tree.runs.astype(np.float64)
        self.times = np.exp2(self.runs)
        self.elements = np.ones(length)
        arrays = np.flatnonzero(one_of(tree.effect, _WHOLE))
        if len(arrays):
            largest = [tree.size[one : tree.end[one]].max() for one in arrays.tolist()]
            self.elements[arrays] = np.exp2(np.maximum(np.array(largest, float) - 1, 0))
        handlers = np.flatnonzero(tree.kind == _K["handler"])
        weights = np.ones(len(handlers), np.int64)
        self.handled = within(length, handlers, tree.end[handlers].astype(np.intp), weights) > 0
        self.live = tree.reached & ~self.handled
        self.by_effect = np.bincount(tree.effect[self.live], self.times[self.live], len(_E))
        before = np.concatenate([[0], np.cumsum(loops)])
        inner = self.loops[before[ends] == before[self.loops + 1]]
        weights = np.ones(len(inner), np.int64)
        self.inner_loops = inner
        depth = within(length, inner, tree.end[inner].astype(np.intp), weights)
        self.inner = (depth > 0) & self.live

    def _runs(self, mask: NDArray[np.bool_]) -> float:
        """Log2 of how often the nodes of a mask run together; 0: they do not."""
        return _log(float(self.times[mask].sum()))

    def features(self) -> dict[str, float]:
        """All features by name."""
        tree, live = self.tree, self.live
        kinds = np.bincount(tree.kind[live], minlength=len(_K))
        often = np.bincount(tree.kind[live], self.times[live], len(_K))
        inner = np.bincount(tree.kind[self.inner], minlength=len(_K))
        found: dict[str, float] = {}
        for name, counted in _COUNTED.items():
            numbers = [_K[one] for one in counted]
            found[f"count.{name}"] = _log(float(kinds[numbers].sum()))
            if name in _RUNNING:
                found[f"runs.{name}"] = _log(float(often[numbers].sum()))
        for effect, times in enumerate(self.by_effect.tolist()):
            if times:
                found[f"runs.{EFFECTS[effect]}"] = _log(times)
        indexing = index_counts(tree, self.inner_loops)
        self._sizes(found)
        self._groups(found, indexing)
        self._inner(found, inner)
        for name, nodes in indexing._asdict().items():
            mask = np.zeros(len(self.tree), bool)
            mask[nodes] = True
            found[f"index.{name}"] = self._runs(mask & self.live)
        indexes = self.live & (self.tree.kind == _K["index"]) & (self.runs > 0)
        found["index.interpreted"] = self._runs(indexes & ~self.compiled)
        return found

    def _groups(self, found: dict[str, float], indexing: IndexCounts) -> None:
        tree, sums = self.tree, {}
        work = self.times * self.elements * _COST[self.shell.astype(int), tree.effect]
        calls = np.flatnonzero(self.live & (tree.effect > 0) & ~on_others(tree))
        effects = tree.effect[calls]
        counts = np.bincount(effects, minlength=len(_E))
        works = np.bincount(effects, work[calls], len(_E))
        deepest = np.full(len(_E), -1.0)
        np.maximum.at(deepest, effects, tree.depth[calls])
        for group, names in GROUPS.items():
            numbers = [_E[one] for one in names]
            found[f"calls.{group}"] = _log(float(counts[numbers].sum()))
            found[f"deepest.{group}"] = float(deepest[numbers].max())
            sums[group] = float(works[numbers].sum())
        plain = self.live & one_of(tree.kind, _PLAIN) & (tree.effect == 0)
        slow = np.where(self.compiled[plain], 1.0, _INTERPRETED)
        sums["plain"] = float((self.times[plain] * slow).sum())
        if found["value.over_cache"]:
            missed = [*indexing.chased.tolist(), *indexing.indirect.tolist()]
            sums["memory"] += _MISS * float((self.times * self.live)[missed].sum())
            again = float(work[self.live & reuses(tree)].sum())
            again *= 2.0 ** (found["value.array"] / 2)  # n elements, n to the 1.5 operations
            sums["cpu"] += again
            if again > sum(sums.values()) / 2 or self._seldom(work, missed):
                found |= _IN_CACHE
        if found["value.in_cache"]:
            sums["cpu"] += sums["memory"]
            sums["memory"] = 0.0
        total = sum(sums.values()) or 1.0
        found |= {f"share.{group}": value / total for group, value in sums.items()}

    def _seldom(self, work: NDArray[np.float64], missed: list[int]) -> bool:
        """Whether large arrays are passed over, but seldom, measured by all that is computed.

        Args:
            work: the time of each call (n,), as in `_groups`.
            missed: nodes of elements that are in no cache.
        """
        tree, live = self.tree, self.live
        passes = live & one_of(tree.effect, [_E[one] for one in GROUPS["memory"]])
        large = passes & (self.elements >= 2.0 ** (_CACHE - 1))
        singles = live & one_of(tree.kind, _ELEMENTS) & (tree.effect == 0)
        moved = float((self.times * self.elements)[large].sum() + self.times[singles].sum())
        moved += _MISS * float((self.times * live)[missed].sum())
        plain = live & one_of(tree.kind, _PLAIN) & (tree.effect == 0) & ~singles
        slow = np.where(self.compiled[plain], 1.0, _INTERPRETED)
        calls = live & one_of(tree.effect, [_E[one] for one in GROUPS["cpu"]]) | passes & ~large
        computed = float((self.times[plain] * slow).sum() + work[calls].sum())
        return computed > _MANY * moved > _MANY * 2.0 ** (_CACHE - 1)

    def _sizes(self, found: dict[str, float]) -> None:
        tree, live = self.tree, self.live
        allocated = tree.effect == _E["allocate"]
        arrays = allocated | (tree.effect == _E["random"]) | (tree.kind == _K["extent"])
        elements = self._elements(np.flatnonzero(arrays))
        largest = _largest(elements)
        small = len(elements) and largest and tree.size[allocated].all() and largest < _CACHE
        sleeps, blocks = tree.effect == _E["sleep"], self._by_blocks()
        total = max(len(tree), 1)
        if blocks and largest >= _CACHE:
            largest = _CACHE - 1.0
        found |= {
            "size.lines": _log(sum(file.lines for file in tree.files)),
            "size.texts": float(len(tree.files)),
            "size.nodes": _log(len(tree)),
            "size.imports": _log(len(tree.imports)),
            "size.unreached": 1.0 - float(tree.reached.sum()) / total,
            "nesting.deepest": _largest(tree.depth[live]),
            "nesting.lexical": _largest(tree.lexical[live]),
            "nesting.mean": float(tree.depth[live].mean()) if live.any() else 0.0,
            "nesting.inner": _log(len(self.inner_loops)),
            "nesting.work": _largest(self.runs[live]),
            "nesting.recursive": _log(self._recursive()),
            "value.number": _largest(tree.size[live & (tree.kind == _K["number"])]),
            "value.bound": _largest(tree.size[live & (tree.kind == _K["loop"])]),
            "value.array": largest,
            "value.over_cache": float(largest >= _CACHE),
            "value.in_cache": float(bool(small) or blocks),
            "value.sleep": _largest(tree.size[live & sleeps]),
            "handlers.sleep": float((sleeps & self.handled).sum()) / max(float(sleeps.sum()), 1.0),
        }
        found["language.compiled"] = float(self.compiled.mean())
        found["language.shell"] = float(self.shell.mean())

    def _by_blocks(self) -> bool:
        """Whether most indexing is of blocks, which fit in caches, and used again."""
        indexes = self.live & (self.tree.kind == _K["index"])
        again = np.zeros(len(indexes), bool)
        again[reused(self.tree, self.loops)] = True
        return float(self.times[indexes & again].sum()) > float(self.times[indexes].sum()) / 2

    def _elements(self, nodes: NDArray[np.intp]) -> NDArray[np.float64]:
        """1 + log2 of the elements of arrays; of one made for each element of another, of all.

        So, too, of the nodes of trees and lists that C and C++ make one by one.
        """
        tree = self.tree
        size, above = tree.size[nodes].astype(np.float64), np.maximum(tree.parent[nodes], 0)
        target = np.minimum(above + 1, len(tree) - 1)
        rows = (tree.kind[above] == _K["assign"]) & (tree.kind[target] == _K["index"])
        single = np.array([self._is_object(node) for node in nodes.tolist()], bool)
        every = rows & (size > 0) | single
        return np.where(single, 1.0, size) + np.where(every, self.runs[nodes], 0.0)

    def _is_object(self, node: int) -> bool:
        """Whether a call allocates one object: ``new Node(k)``, ``malloc(sizeof(Node))``."""
        tree = self.tree
        name = tree.calls.get(node, "").removeprefix("std.")
        if tree.files[tree.file[node]].language not in ("c", "cpp") or tree.size[node] > 1:
            return False
        inside = range(node + 1, int(tree.end[node]))
        if name in ("malloc", "calloc"):
            return not any(one in tree.names for one in inside)
        made = name in ("new", "make_unique", "make_shared")
        return made and not any(tree.role[one] == _R["index"] for one in inside)

    def _recursive(self) -> float:
        tree = self.tree
        own = np.flatnonzero(tree.effect == _E["own"])
        return float(sum(
            tree.calls[node].rpartition(".")[2] == name
            for function, name in tree.functions.items()
            for node in own[slice(*np.searchsorted(own, (function, tree.end[function])))].tolist()
        ))  # fmt: skip

    def _inner(self, found: dict[str, float], inner: NDArray[np.int64]) -> None:
        def count(*names: str) -> float:
            return float(inner[[_K[one] for name in names for one in _COUNTED[name]]].sum())

        nodes = max(float(inner.sum()), 1.0)
        effects = self.tree.effect[self.inner & (self.tree.kind == _K["call"])]
        known = one_of(effects, [_E[one] for one in ("math", "own", "cheap", "convert")])
        found |= {
            "inner.arithmetic": count("arithmetic") / (1.0 + count("loads", "indexes")),
            "inner.indexes": count("indexes") / (1.0 + count("arithmetic")),
            "inner.calls": count("calls") / nodes,
            "inner.known": float(known.mean()) if len(known) else 0.0,
            "inner.branches": count("branches") / nodes,
        }


def _largest(values: NDArray[np.generic]) -> float:
    return float(values.max()) if len(values) else 0.0
