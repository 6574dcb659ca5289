"""What binds a program: one answer as a command, and in a process that has the model open."""

from __future__ import annotations

from pathlib import Path

from bench.measure import Section, Times, median, spread, timed
from bench.stored_answers import command_times

__all__ = ["run"]

_RUNS = 9
_PROGRAMS = Path(__file__).parent.parent / "corpus" / "programs"


def run() -> Section:
    """The benchmark."""
    from jobsight.answering.session import AnswerSession
    from jobsight.questions.bound.answering import BOUND_ANSWERS
    from jobsight.settings import Settings

    program = str(_PROGRAMS / "heat_diffusion" / "jacobi_blocked.py")
    cold = Times(seconds=[], cpu=[])
    for _ in range(_RUNS):
        seconds, cpu = command_times("bound", "--json", program)
        cold["seconds"].append(seconds)
        cold["cpu"].append(cpu)
    session = AnswerSession(BOUND_ANSWERS, None, 0, Settings(), champions=False)
    answerer = session.answerer(None)
    warm = timed(lambda: answerer.of_file(program), _RUNS)
    section = Section("What binds a program")
    section.say(
        f"`jobsight bound` of `corpus/programs/{Path(program).relative_to(_PROGRAMS)}` with the "
        f"model that ships; medians of {_RUNS} runs. The aim of the command is 1.5 s; on a busy "
        "machine, compare processor times."
    )
    section.table(
        ["one program", "wall time, s", "runs", "processor time, s", "runs"],
        [
            [way, f"{median(times['seconds']):.3f}", spread(times["seconds"]),
             f"{median(times['cpu']):.3f}", spread(times["cpu"])]
            for way, times in {"the whole process": cold, "model open": warm}.items()
        ],
    )  # fmt: skip
    return section
