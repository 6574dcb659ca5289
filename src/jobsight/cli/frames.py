"""``jobsight frames``: the tensor e × m × j of every released job, as files for own studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    TimezoneOption,
    check_output,
    load_settings,
)
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import read_history
from jobsight.files import Kind

__all__ = ["frames"]


def frames(
    logs: LogArguments,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the new files.")],
    m: Annotated[int | None, typer.Option("--m", help="Frames an example.")] = None,
    j: Annotated[
        int | None, typer.Option("--j", help="Jobs an example, the held one first.")
    ] = None,
    timeframe_len: Annotated[
        float | None, typer.Option(help="Seconds a frame (default: by the pool's pace).")
    ] = None,
    as_of: Annotated[
        Literal["release", "hold"] | None, typer.Option(help="The moment of the last frame.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the sampling of jobs (default: 0).")] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write frames, outcomes, times and groups of all released jobs, memory-mapped."""
    from jobsight.questions.hold.examples.decisions import hold_decisions
    from jobsight.questions.hold.examples.framefiles import write_frames
    from jobsight.questions.hold.examples.scale import resolve_scale

    check_output(output, Kind.FRAMES)
    settings = load_settings(
        config,
        {
            "timezone": timezone,
            "hold": {
                "as_of": as_of,
                "seed": seed,
                "frames": {"m": m, "j": j, "timeframe_len": timeframe_len},
            },
        },
    )
    history, _, sources = read_history(logs, settings)
    decisions = hold_decisions(history, settings.hold)
    scale = resolve_scale(decisions.table, settings.hold)
    manifest = write_frames(history, decisions.table, output, settings.hold, scale, sources=sources)
    if as_json:
        print_json({"frames": str(output), **manifest})
    else:
        _print(manifest, decisions.left_out, output)


def _print(manifest: dict[str, Any], left_out: dict[str, int], output: Path) -> None:
    shape = " × ".join(str(size) for size in manifest["shapes"]["frames"])
    say(f"frames {shape} (examples × m × j) of {manifest['timeframe_len']:g} s each")
    counts = manifest["counts"]
    say(f"{counts['successes']} succeeded, {counts['examples'] - counts['successes']} failed")
    for kind, count in counts["censored"].items():
        say(f"  no outcome: {count} {kind.replace('_', ' ')}")
    for why, count in left_out.items():
        say(f"  no decision: {count} ({why})")
    say(f"wrote {output}")
