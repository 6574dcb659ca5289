"""The application: the API and the pages over one `Site`, behind the checks of every request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from jobsight import __version__
from jobsight.errors import JobError, JobsightError, StoreUnavailableError, UsageError
from jobsight.service.web import api, pages
from jobsight.service.web.guards import Headers

if TYPE_CHECKING:
    from jobsight.service.web.site import Site

__all__ = ["application"]

_STATIC = Path(pages.__file__).parent / "static"


def application(site: Site) -> FastAPI:
    """The application of a site, which is `app.state.site`."""
    app = FastAPI(
        title="Jobsight",
        version=__version__,
        summary="How batch jobs of HTCondor and Slurm will behave.",
        docs_url=None,
        redoc_url=None,
        root_path=site.settings.serve.base_path,
    )
    app.state.site = site
    app.include_router(api.router)
    app.include_router(pages.router)
    if _STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_exception_handler(JobsightError, _explained)
    app.add_middleware(Headers)
    return app


async def _explained(_request: Request, error: Exception) -> JSONResponse:
    status = 500
    for kind, number in ((JobError, 404), (UsageError, 422), (StoreUnavailableError, 503)):
        if isinstance(error, kind):
            status = number
            break
    return JSONResponse({"detail": str(error)}, status)
