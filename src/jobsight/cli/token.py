"""``jobsight token``: who may ask the service from elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from jobsight.cli.common import ConfigOption, JsonOption, load_settings
from jobsight.cli.output import answer, say
from jobsight.cli.tables import table
from jobsight.format import UNKNOWN, moment
from jobsight.service.web.tokens import Role, Tokens

__all__ = ["add", "list_", "remove"]


def add(
    user: Annotated[str, typer.Argument(help="Whose token, as schedulers name the user.")],
    role: Annotated[
        Role, typer.Option(help="user: own jobs; facilitator: all jobs; admin: the service too.")
    ] = "user",
    days: Annotated[float | None, typer.Option(min=0.001, help="Valid so long.")] = 90,
    config: ConfigOption = None,
) -> None:
    """Make a token and print it, this once."""
    say(Tokens(load_settings(config, {}).serve).add(user, role, days))


def list_(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """The tokens that were made, without their secrets."""
    found = [
        {
            "id": one.id,
            "user": one.name,
            "role": one.role,
            "made": moment(one.made),
            "expires": None if one.expires is None else moment(one.expires),
            "expired": one.expired,
        }
        for one in Tokens(load_settings(config, {}).serve).list()
    ]
    names = ("id", "user", "role", "made", "expires")
    rows = [[str(one[name] or UNKNOWN) for name in names] for one in found]
    none = "there are no tokens; `jobsight token add` makes one"
    answer(found, lambda: table(names, rows, left=names) if rows else none, as_json=as_json)


def remove(
    token: Annotated[str, typer.Argument(metavar="ID", help="As `token list` shows it.")],
    config: ConfigOption = None,
) -> None:
    """Make a token invalid at once."""
    Tokens(load_settings(config, {}).serve).remove(token)
    say(f"removed {token}")
