"""``jobsight frames QUESTION``: the tensor e × m × j of every decision, for your own studies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from jobsight.cli.common import (
    ConfigOption,
    JsonOption,
    LogArguments,
    QuestionArgument,
    TimezoneOption,
    check_output,
    load_settings,
)
from jobsight.cli.output import print_json, say
from jobsight.cli.reading import read_for
from jobsight.files import Kind
from jobsight.learning.framefiles import write_frames
from jobsight.questions import question_named

__all__ = ["frames"]


def frames(
    question: QuestionArgument,
    logs: LogArguments,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the new files.")],
    m: Annotated[int | None, typer.Option("--m", help="Frames per example.")] = None,
    j: Annotated[
        int | None, typer.Option("--j", help="Jobs per example, the one decided about first.")
    ] = None,
    timeframe_len: Annotated[
        float | None, typer.Option(help="Seconds per frame (default: by the pool's time scale).")
    ] = None,
    as_of: Annotated[
        Literal["release", "hold"] | None, typer.Option(help="The moment of the last frame.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the sampling of jobs (default: 0).")] = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write frames, outcomes, times and groups of all decisions, memory-mapped."""
    asked = question_named(question)
    check_output(output, Kind.FRAMES)
    frames = {"m": m, "j": j, "timeframe_len": timeframe_len}
    own = {"as_of": as_of, "seed": seed, "frames": frames}
    settings = load_settings(config, {"timezone": timezone, question: own}, asked)
    source, _, sources = read_for(asked, logs, settings)
    own_settings = settings.of(question, asked.settings)
    manifest = write_frames(asked, source, own_settings, output, sources)
    if as_json:
        print_json({"frames": str(output), **manifest})
    else:
        shape = " × ".join(str(size) for size in manifest["shapes"]["frames"])
        counts = manifest["counts"]
        say(f"frames {shape} (examples × m × j), of {counts['decisions']} decisions")
        for kind, count in counts["censored"].items():
            say(f"  no outcome: {count} {kind.replace('_', ' ')}")
        for why, count in manifest["no_decision"].items():
            say(f"  no decision: {count} ({why})")
        say(f"wrote {output}")
