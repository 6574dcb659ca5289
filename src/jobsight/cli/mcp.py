"""``jobsight mcp``: the service's answers for assistants, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, StoreOption, caller, load_settings
from jobsight.questions import QUESTIONS, question_named
from jobsight.service.web.tokens import Caller
from jobsight.store import open_store

__all__ = ["mcp"]


def mcp(
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", help="Only jobs of this user (default: all in the store)."),
    ] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer an assistant over standard input and output (Model Context Protocol)."""
    from jobsight.service.web.mcp import server
    from jobsight.service.web.site import Site

    settings = load_settings(config, {"store": store}, *map(question_named, QUESTIONS))
    with open_store(settings=settings.store) as opened:
        site = Site(settings, opened)
        site.follower.start()
        try:
            server(site, Caller(user or caller(), "user" if user else "admin")).run("stdio")
        finally:
            site.follower.stop()
