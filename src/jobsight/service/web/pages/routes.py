"""The pages: what each address shows. Nothing here changes anything but the browser's token.

Hostile text is escaped; amounts read as in the commands' output.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from anyio.to_thread import run_sync
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from jobsight import __version__
from jobsight.clock import micros, now_micros
from jobsight.documents.states import State
from jobsight.errors import JobsightError
from jobsight.format import UNKNOWN, amount, hours, memory, moment, number, percent, span, timestamp
from jobsight.questions.fail.wording import worded
from jobsight.reports.scores import HEADINGS
from jobsight.service.web.analysis import unless_gone
from jobsight.service.web.api import Asking, TheSite
from jobsight.service.web.asking import name_for, summary
from jobsight.service.web.guards import COOKIE, RefusedError
from jobsight.service.web.pages import jobview
from jobsight.service.web.pages.jobview import decisions, merged
from jobsight.text import counted, printable, visible

if TYPE_CHECKING:
    from jobsight.service.web.tokens import Caller

__all__ = ["MOTTO", "problem", "render", "router"]

_TEMPLATES = Path(__file__).with_name("templates")
MOTTO: Mapping[int, str] = {
    401: "Sign in first",
    403: "Not yours to see",
    404: "Not found",
    405: "Not possible here",
    413: "Too large",
    422: "That was not understood",
    429: "Too many requests",
    503: "Not ready",
}
"""Titles of error pages."""


def render(
    request: Request, name: str, who: Caller | None = None, *, status: int = 200, **context: Any
) -> HTMLResponse:
    """A page."""
    base = str(request.scope.get("root_path", ""))
    path = request.url.path.removeprefix(base)
    given = {"base": base, "path": path, "who": who, "now": now_micros(), **context}
    text = _environment().get_template(f"{name}.html").render(given)
    return HTMLResponse(text, status, {"cache-control": "no-store"})


def problem(request: Request, status: int, detail: str) -> HTMLResponse:
    """The page of an error: what is wrong, and where to go from there."""
    title = MOTTO.get(status, "Something went wrong")
    return render(
        request, "problem", status=status, title=title, detail=detail, again=status == 503
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= _FILTERS
    made.globals |= {"version": __version__, "counted": counted, "merged": merged,
                     "fail_words": worded}  # fmt: skip
    return made


def _finalized(value: object) -> object:
    """A dash for what is unknown; text without characters that would hide or reorder others."""
    if value is None:
        return UNKNOWN
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _micros(value: int | str | None) -> int | None:
    """A moment as the documents have it, or as answers write it, as µs."""
    if isinstance(value, str):
        return micros(datetime.fromisoformat(value))
    return value


def _dated(value: int | str | None) -> Markup | str:
    """A moment with its zone, for people and machines."""
    known = _micros(value)
    if known is None:
        return UNKNOWN
    return Markup('<time datetime="{}">{}</time>').format(timestamp(known), moment(known))


def _ago(value: int | str | None) -> Markup | str:
    """How long ago a moment is; the moment itself on pointing at it."""
    known = _micros(value)
    if known is None:
        return UNKNOWN
    age = span(time.time() - known / 1e6)
    text = Markup('<time datetime="{}" title="{}">{} ago</time>')
    return text.format(timestamp(known), moment(known), age)


def _along(seconds: float, most: float) -> float:
    """Where a span is on an axis of 100 that ends at `most`: logarithmic from ten minutes on."""
    if most <= 0:
        return 0.0
    return round(100 * min(math.log1p(max(seconds, 0.0) / 600) / math.log1p(most / 600), 1.0), 2)


_FILTERS: dict[str, Callable[..., Any]] = {
    "ago": _ago,
    "along": _along,
    "amount": amount,
    "dated": _dated,
    "hours": hours,
    "line": printable,
    "memory": memory,
    "number": number,
    "percent": percent,
    "span": span,
    "verbatim": escape,  # as it is, with its line breaks: to be edited or copied
    "words": lambda value: str(value).replace("_", " "),
}


router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

_HOURS = (1, 6, 24, 168)
_LATEST = 20
_MOST, _SHOWN = 500, 100
"""Pending jobs on a page: at most, and if nothing else is asked for."""
_MOST_SERIES = 6
_SCRIPT = 200_000
"""Characters of a script that the form takes."""

Text = Annotated[str, Query(max_length=300)]


@router.get("/")
def overview(request: Request, site: TheSite, who: Asking) -> Response:
    """What needs a decision now; while the service warms up, what is known without answers."""
    warm = site.warm
    return render(
        request, "overview", who,
        warm=warm,
        decisions=decisions(site.held(who)) if warm else [],
        plot=_outage_plot(site.outages(who), "causes") if warm else None,
        risky=_risks(site.pending(who, _SHOWN)) if warm else [],
        counts=site.counts(who) if warm else {},
        latest=[] if warm else [summary(one) for one in site.jobs(who, limit=_LATEST).jobs],
        collectors=site.collectors(who),
    )  # fmt: skip


@router.get("/held")
def held(request: Request, site: TheSite, who: Asking, answer: Text = "") -> Response:
    """Held jobs by cause and expected gain."""
    found = decisions(site.held(who))
    tally: dict[str, int] = {}
    for one in found:
        verb = one.first["verb"]
        tally[verb] = tally.get(verb, 0) + one.jobs
    shown = [one for one in found if answer in ("", one.first["verb"])]
    return render(request, "held", who, decisions=shown, tally=tally, answer=answer)


@router.get("/outages")
def outages(
    request: Request,
    site: TheSite,
    who: Asking,
    hours: Annotated[int, Query(ge=1, le=24 * 31)] = 24,
) -> Response:
    """New holds over time by cause, site and origin."""
    found = site.outages(who, hours=hours)
    plots = {name: _outage_plot(found, name) for name in ("causes", "sites", "origins")}
    return render(request, "outages", who, found=found, plots=plots, hours=hours, choices=_HOURS)


@router.get("/pending")
def pending(
    request: Request,
    site: TheSite,
    who: Asking,
    limit: Annotated[int, Query(ge=1, le=_MOST)] = _SHOWN,
) -> Response:
    """The queue by what is at stake: of more jobs than are shown, those with most."""
    rows = site.pending(who, limit)
    waits = [row["start"]["wait_s"] for row in rows if row["start"] and row["start"]["wait_s"]]
    most = max((one[-1] for one in waits), default=0.0)
    fails = [row["fail"] for row in rows if row["fail"]]
    return render(
        request, "pending", who,
        rows=rows,
        most=most,
        stake=sum(one["core_hours_at_stake"] or 0.0 for one in fails),
        failing=sum(one["probability"] or 0.0 for one in fails),
        limit=limit,
        all=_MOST,
    )  # fmt: skip


@router.get("/jobs")
def jobs(
    request: Request,
    site: TheSite,
    who: Asking,
    id: Text = "",  # noqa: A002
    user: Text = "",
    state: Text = "",
    after: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """The jobs of the store, newest first; a job that is named is shown at once."""
    if id.strip():
        found = site.job(who, id.strip())
        return _to(request, f"/jobs/{quote(found.id, safe=':@+')}")
    states = [state] if state else []
    page = site.jobs(who, user=user or None, states=states, after=after or None, limit=_SHOWN)
    rows = [summary(one) for one in page.jobs]
    asked = {"user": user, "state": state}
    return render(request, "jobs", who, rows=rows, next=page.next, asked=asked, states=list(State))


@router.get("/jobs/{id}")
async def job(
    request: Request,
    site: TheSite,
    who: Asking,
    id: str,  # noqa: A002
) -> Response:
    """All that is known and predicted of a job."""

    async def page() -> Response:
        document = await run_sync(site.job, who, id)
        text, lines = document.submission.script, None
        if text:
            name = (document.submission.command or "script").rpartition("/")[2]
            try:
                findings = (await site.check(who, name, text))["findings"]
            except (JobsightError, RefusedError):
                findings = []
            lines = jobview.marked_lines(text, findings)
        return render(
            request, "job", who,
            document=document,
            summary=summary(document),
            used=await run_sync(site.used, who, id),
            answers=await site.answers(who, document.id) if site.warm else None,
            similar=await run_sync(site.similar, who, document) if site.warm else [],
            lines=lines,
            view=jobview,
        )  # fmt: skip

    return await unless_gone(request, page())


@router.get("/ask")
def ask(request: Request, who: Asking) -> Response:
    """A form for a script."""
    return render(request, "ask", who, script="", options="", found=None, lines=None)


@router.post("/ask")
async def asked(
    request: Request,
    site: TheSite,
    who: Asking,
    script: Annotated[str, Form(max_length=_SCRIPT)] = "",
    options: Annotated[str, Form(max_length=2000)] = "",
) -> Response:
    """What is said of the script, submit file or DAG file that was sent."""
    text = script.replace("\r\n", "\n")
    if not text.strip():
        return ask(request, who)
    asking = site.script(who, name_for(text), text, tuple(options.split()))
    found = await unless_gone(request, asking)
    lines = jobview.marked_lines(text.rstrip("\n"), found["check"]["findings"])
    return render(request, "ask", who, script=text, options=options, found=found, lines=lines)


@router.get("/models")
def models(request: Request, site: TheSite, who: Asking) -> Response:
    """Models with their baselines, champions, and how they did since."""
    return render(request, "models", who, rows=site.models(who), quality=site.quality())


@router.get("/models/{digest}")
def model(request: Request, site: TheSite, who: Asking, digest: str) -> Response:
    """What one model is made of, and how good it was on its test part."""
    return render(request, "model", who, found=site.model(who, digest), headings=HEADINGS)


@router.get("/collectors")
def collectors(request: Request, site: TheSite, who: Asking) -> Response:
    """Whether what is shown is up to date."""
    return render(
        request,
        "collectors",
        who,
        collectors=site.collectors(who),
        health=site.health(),
        store=site.settings.store.url if who.only is None else "URL",
        error=site.reading_error(who),
    )


@router.get("/login")
async def login(request: Request, next: Text = "") -> Response:  # noqa: A002
    """A form for a token."""
    return render(request, "login", next=next)


@router.post("/login")
def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=9000)],
    next_: Annotated[str, Form(alias="next", max_length=2000)] = "/",
) -> RedirectResponse:
    """Keep a valid token in a cookie that scripts cannot read, and go on to a page."""
    if request.app.state.site.tokens.caller(token.strip()) is None:
        raise RefusedError(401, "this token is not valid, or not any more")
    answer = _to(request, next_)
    secure = request.url.scheme == "https"
    answer.set_cookie(
        COOKIE, token.strip(), httponly=True, samesite="strict", secure=secure,
        path=request.scope.get("root_path") or "/",
    )  # fmt: skip
    return answer


@router.post("/logout")
def sign_out(request: Request) -> RedirectResponse:
    """Forget the token."""
    answer = _to(request, "/login")
    answer.delete_cookie(COOKIE, path=request.scope.get("root_path") or "/")
    return answer


def _to(request: Request, path: str) -> RedirectResponse:
    """To a page of the service alone: never to another site."""
    inside = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return RedirectResponse(f"{request.scope.get('root_path', '')}{path if inside else '/'}", 303)


def _risks(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Pending jobs with an answer (see `Site.pending`) by user and name, most at stake first.

    Returns:
        ``user``, ``name``, ``jobs``; ``stake``, core-hours of all; ``fails``, the mean probability
        (None: unknown); ``kind``, how the one with most at stake would fail.
    """
    alike: dict[tuple[Any, Any], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["fail"]:
            alike.setdefault((row["user"], row["name"]), []).append(row["fail"])
    found = []
    for (user, name), fails in alike.items():
        known = [one["probability"] for one in fails if one["probability"] is not None]
        found.append({
            "user": user,
            "name": name,
            "jobs": len(fails),
            "stake": sum(one["core_hours_at_stake"] or 0.0 for one in fails),
            "fails": sum(known) / len(known) if known else None,
            "kind": fails[0]["kind"],
        })  # fmt: skip
    return sorted(found, key=lambda one: -one["stake"])


def _outage_plot(found: Mapping[str, Any], by: str) -> dict[str, Any]:
    """New holds (see `Site.outages`) per step, by cause, site or origin, as uPlot takes them.

    Returns:
        ``data``: JSON of names, and of columns: times in seconds, then one per series; ``rows``:
        name, counts, total and the latest step with a hold (µs, or 0) of every series, the busiest
        first; ``most``: the largest count.
    """
    times = found["times"]
    rows = [
        {
            **one,
            "total": sum(one["counts"]),
            "last": max((t for t, n in zip(times, one["counts"], strict=True) if n), default=0),
        }
        for one in found[by]
    ]
    rows.sort(key=lambda row: -row["total"])
    shown = [row for row in rows if row["total"]][:_MOST_SERIES]
    columns = [[one / 1e6 for one in times], *(row["counts"] for row in shown)]
    data = json.dumps({"names": [row["name"] for row in shown], "data": columns})
    most = max((max(row["counts"], default=0) for row in rows), default=0)
    return {"data": data, "rows": rows, "most": most}
