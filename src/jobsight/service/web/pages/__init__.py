"""The pages for people: `router` is mounted by `jobsight.service.web.application`."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

__all__ = ["problem", "router"]

router = APIRouter(include_in_schema=False)


def problem(request: Request, status: int, detail: str) -> Response:
    """What is wrong with a request for a page."""
    del request
    return PlainTextResponse(detail, status)
