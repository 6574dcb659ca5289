"""The pages for people: `router` is mounted by `jobsight.service.web.application`."""

from jobsight.service.web.pages.rendering import problem
from jobsight.service.web.pages.routes import router

__all__ = ["problem", "router"]
