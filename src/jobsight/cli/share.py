"""``jobsight share``: which jobs may share a node, and what sharing costs them."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from jobsight.acting.control import Switch
from jobsight.acting.sharing.policy import found_in, map_file, matrix_of, publish
from jobsight.acting.sharing.vectors import RESOURCES
from jobsight.acting.slurm.policy import policy_file
from jobsight.cli.common import ConfigOption, JsonOption, StoreOption, load_settings, opened_store
from jobsight.cli.output import answer, progress_bar, say
from jobsight.cli.terminal import fold, table
from jobsight.clock import format_span
from jobsight.errors import SourceError, UsageError
from jobsight.files import Kind, require_replaceable
from jobsight.format import number, percent
from jobsight.text import counted, printable

if TYPE_CHECKING:
    from jobsight.acting.sharing.policy import Found
    from jobsight.acting.sharing.slowdown import Matrix

__all__ = ["measure", "policy", "replay", "status"]

_SHOWN = 30
_STEPS = 1000


def measure(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for the matrix (JSON).")
    ] = Path("sharing.json"),
    program: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="A program that ends by itself and takes seconds; repeatable, next to the "
            "built-in ones.",
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Where programs write: on the disk that jobs use.")
    ] = Path(),
    runs: Annotated[int, typer.Option(min=2, max=100, help="Of each program and pair.")] = 5,
    one_cpu: Annotated[
        bool, typer.Option("--one-cpu", help="Both programs of a pair share one CPU.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run pairs of programs on this node, alone otherwise, and measure how they slow each other."""
    from jobsight.acting.sharing import measure as measuring

    own = []
    for text in program or []:
        name, _, command = text.partition("=")
        try:
            words = tuple(shlex.split(command))
        except ValueError as error:
            raise UsageError(f"{printable(text, 60)!r} cannot be read: {error}") from None
        if not (name and words):
            raise UsageError(f"{printable(text, 60)!r} is not NAME=COMMAND")
        own.append(measuring.Program(name, words))
    require_replaceable(output, Kind.MATRIX)
    with progress_bar("measuring") as show:
        programs = [*measuring.probes(folder, shared=one_cpu), *own]
        matrix = measuring.measure(
            programs, folder, runs=runs, shared=one_cpu,
            progress=lambda _what, part: show(round(part * _STEPS), _STEPS),
        )  # fmt: skip
    matrix.save(output)
    if as_json:
        answer(_shown(matrix), "", as_json=True)
        return
    _print_matrix(matrix)
    say(f"written to {output}")


def _shown(matrix: Matrix) -> dict[str, Any]:
    import msgspec

    weights = matrix.weights().by_resource
    return {**msgspec.to_builtins(matrix), "weights": weights, "errors": matrix.errors()}


def _print_matrix(matrix: Matrix) -> None:
    names = list(matrix.shares)
    by_pair = {(one.program, one.neighbour): one for one in matrix.pairs}
    rows = []
    for name in names:
        cells = [by_pair.get((name, other)) for other in names]
        rows.append([printable(name, 30), *("" if one is None else f"{one.slowdown:.2f} "
                     f"({one.low:.2f} to {one.high:.2f})" for one in cells)])  # fmt: skip
    say(f"{printable(matrix.kind, 60)}, {counted(matrix.cpus, 'CPU')}, measured {matrix.date}")
    say("how many times as long a program takes next to another (95 % interval):")
    say(table(["next to", *(printable(name, 30) for name in names)], rows, left=["next to"]))
    weights = ", ".join(
        f"{name} {number(w, 2)}" for name, w in matrix.weights().by_resource.items()
    )
    say(fold(f"weights of the model: {weights}"))
    errors = ", ".join(f"{printable(n, 30)} {percent(e)}" for n, e in matrix.errors().items())
    say(fold(f"mean error on programs left out: {errors or 'too few programs'}"))
    for name, why in matrix.unmeasured.items():
        say(f"not measured: {name}: {why}")


def policy(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the tokens of jobs; write nothing.")
    ] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give tokens to kinds of job by what they use, and write the schedulers' policy files."""
    settings = load_settings(config, {"store": store})
    acting = settings.acting
    if acting.mode == "off" and not dry_run:
        raise UsageError("acting is off: set acting.mode, or look with --dry-run")
    node = matrix_of(acting).node()
    with opened_store(settings) as opened:
        found = found_in(opened, node, settings)
    if not found:
        raise SourceError("the store has no jobs with a user and a name")
    answer([_row(key, kind) for key, kind in found.items()], lambda: _lines(found), as_json=as_json)
    if not dry_run:
        Switch(acting.folder).prepare()
        done = publish(found, settings)
        if not as_json:
            say(done)


def _row(key: Any, kind: Any) -> dict[str, Any]:
    return {
        "user": key.user, "name": key.name, "jobs": kind.jobs, "tokens": kind.tokens(),
        "shares": None if kind.vector is None else dict(kind.vector.shares), "why": kind.why,
    }  # fmt: skip


def _lines(found: Found) -> str:
    rows = []
    for key, kind in list(found.items())[:_SHOWN]:
        given = kind.tokens()
        tokens = [str(given.get(name, "")) for name in RESOURCES]
        rows.append([printable(key.user, 20), printable(key.name, 30), f"{kind.jobs:,}", *tokens,
                     printable(kind.why, 60)])  # fmt: skip
    some = sum(bool(kind.tokens()) for kind in found.values())
    names = ["user", "name", "jobs", *RESOURCES, "from"]
    more = f"\n… and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return (
        table(names, rows, left=["user", "name", "from"])
        + more
        + f"\n{counted(len(found), 'kind')} of job, {some:,} with tokens of 100 a node"
    )


def replay(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="A history that `import` reads.")
    ],
    nodes: Annotated[int, typer.Option(min=1, max=100_000, help="Of the cluster.")],
    cpus: Annotated[int, typer.Option(min=1, max=1024, help="Of each node.")],
    matrix: Annotated[
        Path | None,
        typer.Option(help="Measured slowdowns (default: those that the policy uses)."),
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.01, help="The first days alone (default: all).")
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=100, help="Of what the jobs use.")] = 3,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a history on nodes that jobs share: alone, packed, and with tokens.

    A history does not say what its jobs use: each user's jobs of a name are given one of the
    programs of the matrix, drawn anew for each draw. No gain is shown if the play without
    slowdowns does not fit what happened.
    """
    from jobsight.acting.sharing.replay import Trace, fidelity, replayed
    from jobsight.acting.sharing.slowdown import Matrix
    from jobsight.cli.output import Console
    from jobsight.learning.reading import job_tables

    settings = load_settings(config, {})
    measured = matrix_of(settings.acting) if matrix is None else Matrix.read(matrix)
    tables = [one.table for one in job_tables(files, settings, Console)]
    trace = Trace.of(pl.concat(tables), nodes, cpus, days)
    fits = fidelity(trace)
    arms: dict[str, dict[str, list[float]]] = {}
    if fits.refusal is None:
        with progress_bar("playing") as show:
            arms = replayed(trace, measured, draws, show)
    value = {
        "jobs": len(trace.cpus), "hourly_use_differs_by": fits.use,
        "median_waits_s": {str(size): pair for size, pair in fits.waits.items()},
        "refusal": fits.refusal, "arms": arms,
    }  # fmt: skip
    answer(value, lambda: _replayed(value), as_json=as_json)
    if fits.refusal is not None:
        raise SourceError(f"no gain is shown, since the play does not fit: {fits.refusal}")


def _replayed(value: dict[str, Any]) -> str:
    lines = [f"{counted(value['jobs'], 'job')}; hourly use of CPUs differs by "
             f"{percent(value['hourly_use_differs_by'])}"]  # fmt: skip
    for size, (ours, theirs) in value["median_waits_s"].items():
        lines.append(f"{size} CPUs and more: median wait {ours:.0f} s, recorded {theirs:.0f} s")
    rows = []
    for arm, found in value["arms"].items():
        gains = [found["throughput"], found["wait_s"]]
        rows.append([arm, *(f"{min(one):+.0%} to {max(one):+.0%}" for one in gains),
                     *(number(sum(found[name]) / len(found[name]), 2)
                       for name in ("slowdown", "slowdown_95", "slower"))])  # fmt: skip
    if rows:
        names = ["nodes", "throughput", "mean wait", "slowdown", "95 %", "slower by 10 %"]
        lines += ["against exclusive nodes:", table(names, rows, left=["nodes"])]
    return "\n".join(lines)


def status(config: ConfigOption = None) -> None:
    """Show the mode, the matrix that is used, and how old the policy is."""
    acting = load_settings(config, {}).acting
    say(f"mode      {acting.mode}")
    say(f"switch    {Switch(acting.folder).refusal() or 'on'}")
    for name, path in (("Slurm", policy_file(acting)), ("HTCondor", map_file(acting))):
        if path.exists():
            age = format_span(time.time() - path.stat().st_mtime)
            say(f"{name:9} {path}, written {age} ago, followed for 24 hours")
        else:
            say(f"{name:9} no policy is written")
    try:
        matrix = matrix_of(acting)
    except SourceError as error:
        say(fold(f"matrix    {error}"))
    else:
        _print_matrix(matrix)
