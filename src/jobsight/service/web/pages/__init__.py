"""The pages for people: `router` is mounted by `jobsight.service.web.application`."""

from __future__ import annotations

from fastapi import APIRouter

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
