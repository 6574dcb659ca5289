"""Templates to responses: hostile text is escaped; amounts read as in the commands' output."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from jobsight import __version__
from jobsight.clock import micros, now_micros
from jobsight.format import UNKNOWN, amount, hours, memory, moment, number, percent, span, timestamp
from jobsight.service.web.pages.jobview import merged
from jobsight.text import counted, printable, visible

if TYPE_CHECKING:
    from jobsight.service.web.tokens import Caller

__all__ = ["MOTTO", "problem", "render"]

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
    made.globals |= {"version": __version__, "counted": counted, "merged": merged}
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
