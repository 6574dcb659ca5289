"""The API, version 1: JSON over HTTP, for programs."""

from __future__ import annotations

import os
import pwd
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from jobsight.documents import to_json
from jobsight.service.web.callers import Caller
from jobsight.service.web.site import MOST_JOBS, Site, summary

__all__ = ["Asking", "TheSite", "router"]

router = APIRouter(prefix="/api/v1")


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def _caller(request: Request) -> Caller:
    return Caller(pwd.getpwuid(os.getuid()).pw_name, "admin")


TheSite = Annotated[Site, Depends(_site)]
Asking = Annotated[Caller, Depends(_caller)]


@router.get("/jobs")
def jobs(
    site: TheSite,
    who: Asking,
    user: Annotated[str | None, Query(max_length=200)] = None,
    state: Annotated[list[str], Query(max_length=20)] = [],  # noqa: B006
    cluster: Annotated[str | None, Query(max_length=300)] = None,
    since: int | None = None,
    until: int | None = None,
    after: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 50,
) -> dict[str, Any]:
    """Jobs, those first of which something happened last; `next` is the cursor of the next page."""
    page = site.jobs(
        who, user=user, states=state, cluster=cluster, since=since, until=until, after=after,
        limit=limit,
    )  # fmt: skip
    return {"jobs": [summary(one) for one in page.jobs], "next": page.next}


@router.get("/jobs/{id}")
def job(site: TheSite, who: Asking, id: str) -> dict[str, Any]:  # noqa: A002
    """All that is known of a job: its document."""
    return to_json(site.job(who, id))


@router.get("/collectors")
def collectors(site: TheSite, who: Asking) -> list[dict[str, Any]]:
    """The state of the collectors."""
    return site.collectors()


@router.get("/health")
def health(site: TheSite) -> dict[str, Any]:
    """Whether the service answers."""
    return site.health()
