"""``jobsight serve`` and ``jobsight token``: the service, and who may ask it from elsewhere."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption, StoreOption, TimezoneOption, load_settings
from jobsight.cli.output import answer, say
from jobsight.cli.terminal import table
from jobsight.clock import format_micros
from jobsight.format import moment, show_in
from jobsight.questions import QUESTIONS, question_named
from jobsight.service.web.tokens import Role, Tokens

__all__ = ["add_token", "list_tokens", "remove_token", "serve"]


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
    from jobsight.cli.served import Commands
    from jobsight.service.logs import set_up
    from jobsight.service.web.application import serve as run
    from jobsight.service.web.site import Site
    from jobsight.store import open_store

    own = {"listen": listen, "base_path": base_path}
    flags = {"store": store, "timezone": timezone, "serve": own}
    settings = load_settings(config, flags, *map(question_named, QUESTIONS))
    show_in(dt.UTC)  # readers of pages are anywhere
    set_up(settings.collect.log_format)
    with open_store(settings=settings.store) as opened:
        site = Site(settings, opened)
        run(site, Commands(site).run)


def add_token(
    user: Annotated[str, typer.Argument(help="Whose token, as schedulers name the user.")],
    role: Annotated[
        Role, typer.Option(help="user: own jobs; facilitator: all jobs; admin: the service too.")
    ] = "user",
    days: Annotated[float | None, typer.Option(min=0.001, help="Valid so long.")] = 90,
    config: ConfigOption = None,
) -> None:
    """Make a token and print it, this once."""
    say(Tokens(load_settings(config, {}).serve).add(user, role, days))


def list_tokens(
    timezone: TimezoneOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """The tokens that were made, without their secrets."""
    settings = load_settings(config, {"timezone": timezone})
    tokens = [
        {
            "id": token.id,
            "user": token.name,
            "role": token.role,
            "made": format_micros(token.made),
            "expires": None if token.expires is None else format_micros(token.expires),
            "expired": token.expired,
        }
        for token in Tokens(settings.serve).list()
    ]
    names = ("id", "user", "role", "made", "expires")
    rows = [
        [*(str(token[name]) for name in names[:3]), *(moment(token[name]) for name in names[3:])]
        for token in tokens
    ]
    none = "there are no tokens; `jobsight token add` makes one"
    answer(tokens, lambda: table(names, rows, left=names) if rows else none, as_json=as_json)


def remove_token(
    token: Annotated[str, typer.Argument(metavar="ID", help="As `token list` shows it.")],
    config: ConfigOption = None,
) -> None:
    """Make a token invalid at once."""
    Tokens(load_settings(config, {}).serve).remove(token)
    say(f"removed {token}")
