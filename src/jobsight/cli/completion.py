"""What a shell completes of a verb: read from a table, for the modules of verbs import slowly.

`completion.json` has, by verb, its options and arguments as the modules define them;
``python -m docs.generate`` writes it, and a test holds it to be the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperOption

__all__ = ["command_to_complete"]


def command_to_complete(verb: str) -> TyperCommand:
    """A command that has the parameters of a verb and does nothing; hidden verbs have none."""
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return TyperCommand(verb, params=[_parameter(fields) for fields in table.get(verb, [])])


def _parameter(fields: dict[str, Any]) -> TyperArgument | TyperOption:
    values = fields.get("values")
    complete = None if values is None else lambda *_: values
    several = fields.get("several", False)
    if "argument" in fields:
        return TyperArgument(
            param_decls=[fields["argument"]], nargs=-1 if several else 1, autocompletion=complete
        )
    return TyperOption(
        param_decls=fields["option"], is_flag=fields.get("flag", False), multiple=several,
        help=fields["help"], autocompletion=complete,
    )  # fmt: skip
