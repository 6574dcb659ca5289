"""The API, version 1: JSON over HTTP, for programs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Body, Depends, Path, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from jobsight.documents import to_json
from jobsight.errors import UsageError
from jobsight.service.web.analysis import unless_gone
from jobsight.service.web.asking import MOST_JOBS, summary
from jobsight.service.web.guards import RefusedError
from jobsight.service.web.site import Site
from jobsight.service.web.tokens import Caller

__all__ = ["Asking", "Problem", "Script", "TheSite", "Wanted", "example", "router"]

_JOB = {
    "id": "slurm:grid:77", "job": "77", "scheduler": "slurm", "cluster": "grid", "user": "ann",
    "name": "fit", "state": "pending", "submitted": 1_795_224_900_000_000,
    "changed": 1_795_224_900_000_000, "waited_s": 312.0, "ran_s": None, "memory_mb": None,
    "why": "Resources",
}  # fmt: skip
_FAIL = {
    "job": "77", "id": "slurm:grid:77", "at": "2026-11-21 01:40:12Z", "moment": "submission",
    "probability": 0.31, "interval": [0.22, 0.4], "kind": "out_of_memory",
    "kinds": {"out_of_memory": 0.8, "failed": 0.2},
    "evidence": [{"what": "request", "text": "of this user's last 12 runs 5 failed"}],
    "advice": {"text": "ask for 4 GB", "option": "--mem=4G", "runs": 12}, "with_advice": 0.06,
    "core_hours_at_stake": 4.9, "blocked": None, "model": "mixture@30504b05",
}  # fmt: skip
_START = {
    "job": "77", "id": "slurm:grid:77", "at": "2026-11-21 01:40:12Z", "moment": "pending",
    "state": "pending", "wait_s": [60.0, 540.0, 2400.0],
    "start": ["2026-11-21 01:41:12Z", "2026-11-21 01:49:12Z", "2026-11-21 02:20:12Z"],
    "runtime_s": [300.0, 1500.0, 3600.0], "end": None, "not_before": None, "blocked": None,
    "only_jobs_of": None, "reason": "Resources",
    "waits_for": ["35 running jobs with 140 CPUs"], "advice": [], "scheduler_estimate": None,
    "model": "mixture@73f0c1aa",
}  # fmt: skip
_HELD = {
    "verb": "release", "jobs": 2, "said_for": 2,
    "members": ["htcondor:ap40:2153.22", "htcondor:ap40:2153.23"], "owners": ["ann"],
    "place": "cluster 2153 on ap40", "cause": 3, "hold_code": 13, "hold_subcode": 256,
    "reason": "Transfer input files failure", "probability": 0.86, "interval": [0.71, 0.94],
    "gain": 1.5,
    "advice": {"steps": [{"text": "release them", "command": "condor_release -name ap40 2153"}]},
    "held_since": 1_795_224_990_000_000, "vacated": False,
    "evidence": [{"what": "same_cause", "text": "40 releases with this cause ended: 31 succeeded"}],
    "model": "mixture@0cd879ee",
}  # fmt: skip
_EXAMPLES: dict[str, Any] = {
    "jobs": {"jobs": [_JOB], "next": "1795224900000000:slurm:grid:77"},
    "answers": {
        "job": "slurm:grid:77",
        "answers": {"hold": None, "fail": _FAIL, "start": _START, "bound": None},
        "problems": {
            "hold": "slurm:grid:77 is not an HTCondor job; only these are held",
            "bound": "the store has no script of this job",
        },
    },
    "ask": {"answers": [{"job": "slurm:grid:77", "answer": _FAIL}]},
    "held": [_HELD],
    "pending": [{**_JOB, "fail": _FAIL, "start": _START}],
    "health": {
        "ok": True, "state": "ready", "ready": True, "behind": False, "version": "0.1.0",
        "uptime_s": 3600.0, "store": "sqlite", "revision": 8123, "jobs": 8600,
    },
}  # fmt: skip


_SUBMISSION = {
    "requestBody": {
        "required": True,
        "description": "The folder, a line; the options as a JSON object, a line; the script.",
        "content": {
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"},
                "example": '/home/ann\n{"argv":["run.sh"],"mem":"1G"}\n#!/bin/bash\nsleep 60\n',
            }
        },
    }
}


def example(name: str) -> dict[int | str, dict[str, Any]]:
    """What FastAPI's `responses` takes: an example of what an operation answers."""
    return {200: {"content": {"application/json": {"example": _EXAMPLES[name]}}}}


_MOST_IDS = 100
_MOST_SCRIPT = 1 << 20


class Problem(BaseModel):
    """What is wrong with a request."""

    detail: str


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "not a request for this service", 401: "no valid token", 404: "no such job",
        405: "no such method", 413: "too large", 422: "not understood",
        429: "too many requests", 503: "not now",
    }.items()
}  # fmt: skip
_OF_HEALTH = CapacityLimiter(4)
"""Threads of its own: those of other requests may all be at work."""
router = APIRouter(prefix="/api/v1", responses=_PROBLEMS)


async def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


async def _caller(request: Request) -> Caller:
    found: Caller | None = request.state.caller
    if found is None:
        raise RefusedError(401, "a token is needed: `jobsight token add`, or `scontrol token`")
    return found


TheSite = Annotated[Site, Depends(_site)]
Asking = Annotated[Caller, Depends(_caller)]
_Id = Annotated[
    str, Path(max_length=300, description="Any form of a job's id.", examples=["2153.22"])
]
_Moment = Annotated[int | None, Query(ge=-(2**62), le=2**62, description="µs since 1970.")]
_Text = Annotated[str, Field(max_length=_MOST_SCRIPT)]
_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Options = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=100)]


def _json(data: Any) -> Response:
    """Plain data as JSON, as it is: FastAPI would check and copy each value first."""
    return Response(msgspec.json.encode(data), media_type="application/json")


class Script(BaseModel):
    """A batch script or submit file, and options of its submission."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "run.sh", "script": "#!/bin/bash\n#SBATCH --mem=1G\nsleep 60\n"}]
        },
    )
    script: _Text
    name: _Name = "script.sh"
    options: _Options = []


class Wanted(BaseModel):
    """What is asked about: jobs by their ids, or a script."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"jobs": ["2153.22", "slurm:grid:77"]}]}
    )
    jobs: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=_MOST_IDS)] = []
    script: _Text | None = None
    name: _Name = "script.sh"
    options: _Options = []


@router.get("/jobs", response_model=dict[str, Any], responses=example("jobs"))
def jobs(
    site: TheSite,
    who: Asking,
    user: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[list[str] | None, Query(max_length=20, examples=[["held"]])] = None,
    cluster: Annotated[str | None, Query(max_length=300)] = None,
    since: _Moment = None,
    until: _Moment = None,
    after: Annotated[str | None, Query(max_length=1000, description="`next` of a page.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 50,
) -> Response:
    """Jobs, those first of which something happened last; `next` is the cursor of the next page."""
    page = site.jobs(
        who, user=user, states=state or (), cluster=cluster, since=since, until=until,
        after=after, limit=limit,
    )  # fmt: skip
    return _json({"jobs": [summary(one) for one in page.jobs], "next": page.next})


@router.get("/jobs/{id}", response_model=dict[str, Any])
def job(site: TheSite, who: Asking, id: _Id) -> Response:  # noqa: A002
    """All that is known of a job: its document."""
    return _json(to_json(site.job(who, id)))


@router.get("/jobs/{id}/answers", response_model=dict[str, Any], responses=example("answers"))
async def answers(
    request: Request,
    site: TheSite,
    who: Asking,
    id: _Id,  # noqa: A002
) -> Response:
    """What each question answers for a job now; `problems` says why one does not."""
    return _json(await unless_gone(request, site.answers(who, id)))


@router.post("/answers/{question}", response_model=dict[str, Any], responses=example("ask"))
async def ask(
    request: Request,
    site: TheSite,
    who: Asking,
    question: Annotated[str, Path(max_length=40, examples=["hold"])],
    wanted: Annotated[Wanted, Body()],
) -> Response:
    """The answers of one question for jobs, or for a script as if it were submitted now."""
    if bool(wanted.jobs) == (wanted.script is not None):
        raise UsageError("name jobs, or send a script")
    if wanted.script is None:
        answered = site.answer(who, question, wanted.jobs)
        return _json({"answers": await unless_gone(request, answered)})
    answering = site.script_answer(who, question, wanted.name, wanted.script, wanted.options)
    answer = await unless_gone(request, answering)
    return _json({"answers": [{"job": None, "answer": answer}]})


@router.post("/check", response_model=dict[str, Any])
async def check(
    request: Request, site: TheSite, who: Asking, sent: Annotated[Script, Body()]
) -> Response:
    """What will go wrong with a script; nothing of it is run."""
    checking = site.check(who, sent.name, sent.script, sent.options)
    return _json(await unless_gone(request, checking))


@router.post("/submission", response_class=PlainTextResponse, openapi_extra=_SUBMISSION)
async def submission(request: Request, site: TheSite, who: Asking) -> Response:
    """What to show a user who submits a job to Slurm: lines of text, none where all is well."""
    lines = await site.submissions.lines(who, await request.body())
    return PlainTextResponse("".join(f"{line}\n" for line in lines))


@router.get("/held", response_model=list[dict[str, Any]], responses=example("held"))
def held(site: TheSite, who: Asking) -> Response:
    """The held jobs by cause and cluster: one decision each, the greatest gain first."""
    return _json(site.held(who))


@router.get("/pending", response_model=list[dict[str, Any]], responses=example("pending"))
def pending(
    site: TheSite, who: Asking, limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 200
) -> Response:
    """Jobs that wait, with their answers; those whose failure would waste most first."""
    return _json(site.pending(who, limit))


@router.get("/models", response_model=list[dict[str, Any]])
def models(site: TheSite, who: Asking) -> Response:
    """The trained models; `champion` marks those that answer."""
    return _json(site.models(who))


@router.get("/collectors", response_model=list[dict[str, Any]])
def collectors(site: TheSite, who: Asking) -> Response:
    """The state of the collectors."""
    return _json(site.collectors(who))


@router.get("/health", response_model=dict[str, Any], responses=example("health"))
async def health(site: TheSite) -> Response:
    """Whether the service answers, and how far it has read the store."""
    return _json(await run_sync(site.health, limiter=_OF_HEALTH))


@router.post("/command", include_in_schema=False)
async def command(
    request: Request, who: Asking, asked: Annotated[dict[str, Any], Body()]
) -> Response:
    """What a command of the command line prints: for the service's own user on its socket."""
    run, connection = request.app.state.command, request.state.connection
    if run is None or request.client is not None or connection.user != os.getuid():
        raise RefusedError(403, "this is for commands of the same user on the same machine")
    del who
    printed = await unless_gone(request, run(asked))
    if printed is None:
        raise RefusedError(409, "the command must do its own work")
    return Response(printed, media_type="application/octet-stream")


@router.get("/events", response_class=StreamingResponse)
async def events(site: TheSite, who: Asking) -> StreamingResponse:
    """News as they come (text/event-stream): ``hold``, ``answer``, ``state``."""
    stream: AsyncIterator[bytes] = await site.events.subscribe(who)
    return StreamingResponse(stream, media_type="text/event-stream")
