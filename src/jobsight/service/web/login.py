"""A browser's token: a form sends it once, a cookie keeps it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse

from jobsight.service.web.guards import COOKIE, RefusedError

__all__ = ["router", "sign_in", "sign_out"]

router = APIRouter(include_in_schema=False)


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
