"""``jobsight serve``: answer people and programs, until it is stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, StoreOption, TimezoneOption, load_settings
from jobsight.cli.served import Commands
from jobsight.questions import QUESTIONS, question_named
from jobsight.service.logs import set_up
from jobsight.service.web.running import serve as run
from jobsight.service.web.site import Site
from jobsight.store import open_store

__all__ = ["serve"]


def serve(
    listen: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS:PORT", help="Where (default: 127.0.0.1:8642; port 0: any)."),
    ] = None,
    base_path: Annotated[
        str | None, typer.Option(metavar="PATH", help="What a proxy puts before every path.")
    ] = None,
    store: StoreOption = None,
    timezone: TimezoneOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer people and programs over HTTP, until it is stopped."""
    own = {"listen": listen, "base_path": base_path}
    flags = {"store": store, "timezone": timezone, "serve": own}
    settings = load_settings(config, flags, *map(question_named, QUESTIONS))
    set_up(settings.collect.log_format)
    with open_store(settings=settings.store) as opened:
        site = Site(settings, opened)
        run(site, Commands(site).run)
