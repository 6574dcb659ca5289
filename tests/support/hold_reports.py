"""What a report is made of, with hostile text wherever a log can put text."""

from dataclasses import replace
from typing import Any

from jobsight.history.readreport import ReadReport
from jobsight.learning.evaluation import evaluate_all
from jobsight.questions.hold.overview import overview
from jobsight.questions.hold.reporting import ShownJobs
from jobsight.reports.shown import Shown
from tests.support.histories import micros
from tests.support.hold_models import (
    EXITED,
    TIMED_OUT,
    Cause,
    constant_model,
    held,
    history,
    released,
)

HOSTILE = (
    "<script>alert(1)</script></style></svg><img src=x onerror=alert(2)> \"'& $x^{2$ \\frac "
    "\u202egnp.exe\u202c \u0000\u001b[31m 你好 🙂 e\u0301"
)
BAD: Cause = (3, 1, f"job exited with code 2: {HOSTILE}")
AUDIT: dict[str, Any] = {
    "question": "hold",
    "grade": "doubtful",
    "verdict": f"Believe it. {HOSTILE}",
    "checks": [
        {"name": "over_time", "grade": "passed", "detail": HOSTILE, "power": HOSTILE},
        {"name": "split", "grade": None, "detail": "not judged", "power": ""},
        {"name": "wait", "grade": "failed", "detail": "weak", "power": "a gap"},
    ],
    "families": [{"family": HOSTILE, "loss": 0.1, "low": 0.0, "high": 0.2}],
    "features": [{"feature": "$\\frac{1}$", "loss": -0.1, "alone": None}],
}


def shown(**changed: Any) -> Shown:
    """A small pool in which releases fared both ways; three jobs are held at second 2000."""
    jobs = [released(100 * k, k, good=k % 3 == 0, cause=TIMED_OUT) for k in range(1, 13)]
    jobs += [released(100 * k + 50, 50 + k, good=False, cause=BAD, owner=HOSTILE) for k in (1, 2)]
    jobs += [held(1990, 70, cause=BAD, owner=HOSTILE, access_point=HOSTILE)]
    jobs += [held(1995, 71, k, cause=TIMED_OUT, slot="slot1@<b>evil@vm") for k in (0, 1)]
    # One of them is released after the moment asked about, and fares well.
    jobs[-1] += [
        {"at": 2100, "code": 13, "cluster": 71, "proc": 1, "owner": "ann"},
        {"at": 2110, "code": 5, "return_value": 0, "cluster": 71, "proc": 1, "owner": "ann"},
    ]
    of = history(*jobs, released(3000, 99, good=True, cause=EXITED))
    model = constant_model(0.6, frames={"m": 6, "j": 3})
    read = ReadReport(files=1, logs=1, bytes=1000, events=len(of), jobs=len(of.jobs))
    read.first, read.last = int(of.clock.min()), int(of.clock.max())
    given: dict[str, Any] = {
        "model": model,
        "evaluations": evaluate_all(model, of),
        "source": of,
        "read": read,
        "overview": overview(of, model.settings),
        "verification": AUDIT,
        "about": f"Made up. {HOSTILE}",
        "at": micros(2000),
    }
    return Shown(**(given | changed))


def shown_jobs(**changed: Any) -> ShownJobs:
    """What the question `hold` adds to the report of `shown`: the answers of its moment."""
    return replace(ShownJobs.of(shown()), **changed)
