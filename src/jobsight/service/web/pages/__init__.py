"""The pages for people: `router` is mounted by `jobsight.service.web.application`."""

from jobsight.service.web.pages.routes import problem, router

__all__ = ["problem", "router"]
