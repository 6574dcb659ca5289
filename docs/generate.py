"""What is generated of the code: ``python -m docs.generate`` writes it.

The pages of ``docs/reference/``, the man page, and what completion reads. Commands come from the
command line, settings from their models, codes from the rules of `jobsight check`, and the API from
its OpenAPI description. A test fails where a committed file is not what is generated.
"""

from __future__ import annotations

import ast
import html
import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pydantic
from fastapi import FastAPI
from pydantic_core import PydanticUndefined

from jobsight import __version__

__all__ = ["FILES", "ROOT"]

ROOT = Path(__file__).parents[1]
_HOME = "/home/USER"


def _row(*cells: str) -> str:
    return "| " + " | ".join(_cell(cell.replace("\n", " ")) for cell in cells) + " |"


def _cell(text: str) -> str:
    """A bar ends a cell, and no escape of it within code is read alike everywhere: HTML is."""
    code = re.compile(r"`([^`]*\|[^`]*)`")
    text = code.sub(lambda found: f"<code>{html.escape(found[1], quote=False)}</code>", text)
    return text.replace("|", "&#124;")


def _table(*heads: str) -> list[str]:
    return [_row(*heads), "|" + "---|" * len(heads)]


def _anchored(title: str) -> str:
    return f"\n## {title}\n"


def _wrap(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 100, break_on_hyphens=False) + "\n"


def _sentence(text: str) -> str:
    """A text for one cell: markdown's code marks kept, HTML and stray marks made harmless."""
    text = " ".join(text.replace("``", "`").split())
    parts = re.split(r"(`[^`]*`)", text)
    plain = {"<": "&lt;", ">": "&gt;", "*": "\\*", "[": "\\["}
    return "".join(
        part if part.startswith("`") else "".join(plain.get(c, c) for c in part) for part in parts
    )


# Commands


def commands() -> Iterator[str]:
    """Every command with its arguments and options."""
    yield "# Commands\n"
    yield _wrap("""
        Every command has `--help`. Results go to standard output, everything else to standard
        error. Exit status: 0 success; 1 an error, which one line explains; 2 wrong usage; 3 a
        check of `verify` failed. `--no-color`, anywhere, or `NO_COLOR` turns colours off. Moments
        are shown in the time zone of the machine (`TZ`), of the setting `timezone`, or of
        `--timezone`.
    """)
    for path, command, context in _verbs():
        yield _anchored(path)
        yield f"```text\n{_usage(command, context)}\n```\n"
        yield _prose(command.help or "")
        rows = [_row(f"`{name}`", _sentence(text)) for name, text in _parameters(command, context)]
        if rows:
            yield ""
            yield from _table("argument or option", "meaning")
            yield from rows


def _verbs() -> Iterator[tuple[str, Any, Any]]:
    """Each verb that is shown: its words, its command, and a context of that."""
    import typer.main

    from jobsight.cli.main import app

    yield from _group(typer.main.get_command(app), "jobsight")


def _group(group: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """The verbs of a group; Typer has a copy of click of its own, hence no types of either."""
    for name, listed in group.commands.items():
        if listed.hidden:
            continue
        context = group.context_class(group, info_name=path)
        _, command, _ = group.resolve_command(context, [name])
        words = f"{path} {name}"
        if hasattr(command, "commands"):
            yield from _group(command, words)
        else:
            yield words, command, command.context_class(command, info_name=words)


def _usage(command: Any, context: Any) -> str:
    pieces = command.collect_usage_pieces(context)
    return " ".join([context.info_name, *(piece for piece in pieces if piece)])


def _parameters(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    """The arguments and options of a command, and what they mean."""
    for one in command.get_params(context):
        if one.param_type_name == "argument":
            yield one.make_metavar(context), getattr(one, "help", None) or ""
        elif not {"--help", "--no-color"} & {*one.opts} and (
            record := one.get_help_record(context)
        ):
            yield record


def _prose(text: str) -> str:
    lines = []
    for paragraph, is_table in _paragraphs(text):
        shown = ["```text", *paragraph.splitlines(), "```"]
        lines += shown if is_table else textwrap.wrap(_sentence(paragraph), 100)
        lines.append("")
    return "\n".join(lines).rstrip()


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """The paragraphs of a help, and whether each is a table, to be shown as it is."""
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        is_table = paragraph.startswith((" ", "\b")) or "\n  " in paragraph
        yield paragraph.replace("\b\n", ""), is_table


# What completion reads


def completion() -> Iterator[str]:
    """The parameters of each verb, one per line, for `jobsight.cli.completion`."""
    verbs = []
    for path, command, context in _verbs():
        known = [
            json.dumps(fields, ensure_ascii=False)
            for one in command.get_params(context)
            if (fields := _to_complete(one, context))
        ]
        verb = json.dumps(path.removeprefix("jobsight "))
        verbs.append(f"{verb}: [\n  " + ",\n  ".join(known) + "\n]")
    yield "{" + ",\n".join(verbs) + "}"


def _to_complete(one: Any, context: Any) -> dict[str, Any]:
    if getattr(one, "hidden", False) or "--help" in one.opts:  # every command has that
        return {}
    fields: dict[str, Any] = {"argument": one.name}
    if one.param_type_name == "option":
        # Typer takes each line of a help for a candidate, and wraps it at the terminal's width.
        text = textwrap.shorten(one.help or "", 60, placeholder=" …")
        fields = {"option": [*one.opts, *one.secondary_opts], "help": text}
        fields |= {"flag": True} if one.is_flag else {}
    fields |= {"several": True} if one.nargs == -1 or getattr(one, "multiple", False) else {}
    values = [item.value for item in one.shell_complete(context, "") if item.type == "plain"]
    return fields | ({"values": values} if values else {})


# The man page


def manual() -> Iterator[str]:
    """The man page ``jobsight(1)``, in the macros of man(7)."""
    yield f'.TH JOBSIGHT 1 "" "Jobsight {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "jobsight \\- predict how a batch job will behave on HTCondor and Slurm clusters"
    yield ".SH SYNOPSIS\n.B jobsight\n[\\-\\-no\\-color]\n.I COMMAND\n[OPTIONS] [ARGUMENTS]"
    yield ".SH DESCRIPTION"
    yield from _roff("""
        Jobsight says what is wrong with a script before it runs (check), which resource will bind
        a program (bound), when a job will start and how long it will run (start), whether it will
        fail and of what (fail), and, when HTCondor holds it, whether to release, wait, fix or
        remove (hold). It learns from the history of the cluster. Each answer has a probability or
        quantiles, its evidence, and the commands to run.

        Results go to standard output, everything else to standard error.
    """)
    yield ".SH COMMANDS"
    for _, command, context in _verbs():
        yield f'.SS "{_escaped(_usage(command, context))}"'
        yield from _roff(command.help or "")
        for name, text in _parameters(command, context):
            yield f".TP\n.B {_escaped(name)}"
            yield from _roff(text)
    for title, rows in _MANUAL.items():
        yield f".SH {title}"
        for name, text in rows.items():
            yield f".TP\n.B {_escaped(name)}"
            yield from _roff(text)
    yield ".SH SEE ALSO"
    yield ",\n".join(
        f".BR {name} (1)" for name in ("sbatch", "squeue", "sacct", "condor_q", "condor_history")
    )


_MANUAL: Mapping[str, Mapping[str, str]] = {
    "EXIT STATUS": {
        "0": "An answer was given.",
        "1": "An error, which one line on standard error explains; or check found errors.",
        "2": "The call itself is wrong.",
        "3": "A check of verify failed.",
    },
    "ENVIRONMENT": {
        "JOBSIGHT_STORE": "The store of job documents: a path, or redis://HOST.",
        "JOBSIGHT_CONFIG": "A settings file (YAML), read after those of FILES.",
        "JOBSIGHT_SECTION__NAME": "Any setting, such as JOBSIGHT_HOLD__SEED=7 for hold.seed.",
        "NO_COLOR": "Print without colours.",
    },
    "FILES": {
        "/etc/jobsight/jobsight.yaml": "Settings of the site.",
        "~/.config/jobsight/jobsight.yaml": "Settings of the user.",
        "~/.local/share/jobsight/": "The store and the models of the user.",
        "~/.cache/jobsight/": "Compiled code and tables, which may be deleted.",
    },
}


def _roff(text: str) -> Iterator[str]:
    """The paragraphs of a text, to follow a macro that begins one."""
    for number, (paragraph, is_table) in enumerate(_paragraphs(text)):
        if number:
            yield ".PP"
        lines = paragraph.splitlines() if is_table else [" ".join(paragraph.split())]
        shown = [_escaped(line) for line in lines]
        yield "\n".join([".nf", *shown, ".fi"] if is_table else shown)


def _escaped(text: str) -> str:
    """Plain text for roff: hyphens as typed in commands, and no line is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{text}" if text.startswith((".", "'")) else text


# Settings


def settings() -> Iterator[str]:
    """Every setting with its type and default."""
    from jobsight.questions import question_named
    from jobsight.settings import Settings

    yield "# Settings\n"
    yield _wrap("""
        Settings come, in this order, from `/etc/jobsight/jobsight.yaml`,
        `~/.config/jobsight/jobsight.yaml`, the file that `JOBSIGHT_CONFIG` or `--config` names,
        the environment (`JOBSIGHT_HOLD__SEED=7` is `hold.seed`), and the options of a command;
        later ones override earlier ones. An empty variable counts as unset. An unknown name is an
        error with file, line and column. Spans of time are seconds unless a name says otherwise.
    """)
    yield "```yaml"
    yield "store: /var/lib/jobsight/jobs.db"
    yield "timezone: Europe/Paris"
    yield "hold:"
    yield "  costs: {wasted_run: 1, lost_job: 4}"
    yield "```"
    sections = {"": Settings}
    sections |= {name: field.annotation for name, field in _sections_of(Settings)}
    sections |= {name: question_named(name).settings for name in ("hold", "fail", "start", "bound")}
    for name, model in sections.items():
        yield _anchored(f"`{name}`" if name else "General")
        if name:
            yield _prose(model.__doc__ or "") + "\n"
        yield from _table("setting", "values", "default", "meaning")
        yield from _fields(model, f"{name}." if name else "", nested=bool(name))


def _sections_of(model: type[pydantic.BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in model.model_fields.items():
        if inspect.isclass(field.annotation) and issubclass(field.annotation, pydantic.BaseModel):
            yield name, field


def _fields(model: type[pydantic.BaseModel], prefix: str, *, nested: bool) -> Iterator[str]:
    texts = _texts_of(model)
    inner = dict(_sections_of(model))
    for name, field in model.model_fields.items():
        if name in inner:
            if nested:
                yield from _fields(inner[name].annotation, f"{prefix}{name}.", nested=True)
            continue
        yield _row(
            f"`{prefix}{name}`", _values(model, name), _default(field), _sentence(texts[name])
        )


def _texts_of(model: type[Any]) -> Mapping[str, str]:
    """By field: the string below it, in the class or the one it was inherited from."""
    texts: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if not base.__module__.startswith("jobsight."):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(body, ast.ClassDef)
        for one in body.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                texts.setdefault(one.target.id, "")
        for field, text in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                texts[field.target.id] = str(text.value.value)
    return texts


def _values(model: type[pydantic.BaseModel], name: str) -> str:
    schema = model.model_json_schema()
    return _of_schema(schema["properties"][name], schema.get("$defs", {}))


_WORDS = {
    "string": "text", "integer": "integer", "number": "number", "boolean": "true, false",
    "null": "none", "object": "mapping",
}  # fmt: skip
_BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}


def _of_schema(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _of_schema(defined[schema["$ref"].rpartition("/")[2]], defined)
    if "anyOf" in schema:
        return ", ".join(dict.fromkeys(_of_schema(one, defined) for one in schema["anyOf"]))
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        items = schema.get("items", {})
        return f"list of {_of_schema(items, defined)}" if items else "list"
    if schema.get("format") == "path":
        return "path"
    words = _WORDS.get(schema.get("type", ""), "any")
    bounds = [
        f"{sign} {_number(schema[key])}" for key, sign in _BOUNDS.items() if _is_bound(schema, key)
    ]
    return ", ".join([words, *bounds]).replace("<", "&lt;").replace(">", "&gt;")


def _is_bound(schema: Mapping[str, Any], key: str) -> bool:
    return key in schema and abs(schema[key]) < 2**53


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _default(field: Any) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, tuple | frozenset | set):
        return ", ".join(f"`{one}`" for one in value) or "none"
    if value is None or value == {}:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"`{str(value).replace(_HOME, '~')}`"


# Fields of a document


def fields() -> Iterator[str]:
    """Every field of a job document."""
    from jobsight.documents import document

    sections = {
        "The document": document.JobDocument,
        "request": document.Request,
        "submission": document.Submission,
        "program": document.Program,
        "usage": document.Usage,
        "outcome": document.Outcome,
        "timeline, a list of": document.Event,
        "predictions, a list of": document.Prediction,
    }
    yield "# Fields of a job document\n"
    yield _wrap("""
        The [document of a job](documents.md), as the API and `jobsight job --json` show it.
        Times are µs since 1970, UTC; memory and disk are in MB of 2^20 bytes, spans in seconds.
        Fields that are not known are omitted.
    """)
    for title, section in sections.items():
        yield _anchored(title)
        yield _prose((section.__doc__ or "").split("\n\n")[0]) + "\n"
        yield from _table("field", "type", "meaning")
        types = inspect.get_annotations(section)
        for name, text in _texts_of(section).items():
            kind = str(types[name]).replace(" | None", "")
            yield _row(f"`{name}`", f"`{kind}`", _sentence(text))


# Codes


def codes() -> Iterator[str]:
    """Every rule of `jobsight check`."""
    from jobsight.program.preflight.check import Checker
    from jobsight.program.preflight.findings import RULES
    from jobsight.questions.fail import checks

    assert Checker is not None and checks is not None  # importing them registers the rules
    groups = {
        "JS0": "Syntax", "JS1": "What is not there", "JS2": "Requests", "JS3": "Logic",
        "JS4": "HTCondor and DAGMan", "JS5": "History",
    }  # fmt: skip
    yield "# Codes of check\n"
    yield _wrap("""
        What [`jobsight check`](../check.md) reports. An error fails the job or does harm; a
        warning is a likely waste. A rule may report less than its severity where less is certain.
        `jobsight check --explain CODE` prints the same.
    """)
    for prefix, title in groups.items():
        rules = [rule for code, rule in sorted(RULES.items()) if code.startswith(prefix)]
        yield _anchored(title)
        yield from _table("code", "severity", "reported")
        for rule in rules:
            link = f"[`{rule.code}`](#{rule.code.lower()})"
            yield _row(link, rule.severity, _sentence(rule.title))
    yield _anchored("Examples")
    yield "For each code, why it is reported, an example with the finding and one without."
    for _, rule in sorted(RULES.items()):
        yield f"\n### {rule.code}\n"
        yield f"**{_sentence(rule.title)}** ({rule.severity})\n"
        yield _prose(rule.check.__doc__ or "")
        for title, example in (("Reported", rule.fails), ("Not reported", rule.passes)):
            yield f"\n{title}:\n"
            yield f"~~~~text\n{_shown(example)}\n~~~~"


def _shown(example: Any) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=1)
    return text.replace("\r", "\\r").replace("\ufeff", "\\ufeff").rstrip()


# Reasons of holds


def hold_reasons() -> Iterator[str]:
    """Every reason of a hold that is known, by what it is about."""
    from jobsight.history.causes.cause import KINDS
    from jobsight.history.causes.table import Entry, table

    entries = table("holds")
    whose = {"user": "the user", "site": "the site or pool", "person": "the user"}
    whose["network"] = "it may pass by itself"

    def example(entry: Entry) -> str:
        if not entry.examples:
            return f"code {', '.join(map(str, entry.codes))}, whatever its text"
        return f"`{entry.examples[0].replace('`', chr(39))}`"

    yield "# Reasons of holds\n"
    yield _wrap("""
        The reasons that [`jobsight hold`](../held-jobs.md) knows, each with an example, its cause,
        who can fix it and what to do. Names in the example (`{file}`, `{url}`) are those of the
        reason. *Sure* means that the cause can be nothing else; then the fix is advised before a
        release that has not been seen to succeed. Where a resource was exceeded, the advice has
        the figure that the job's own records support. `jobsight/history/causes/holds` has the
        patterns; [how to add one](../develop/adding.md#the-text-of-a-hold-reason).
    """)
    for kind, title in KINDS.items():
        rows = [entry for entry in entries if entry.kind == kind]
        if not rows:
            continue
        yield _anchored(title[0].upper() + title[1:])
        yield from _table("reason, such as", "cause", "who", "what to do", "sure", "seen in")
        for entry in rows:
            texts = map(_sentence, (entry.text, entry.fix))
            sure = "yes" if entry.sure else "no"
            yield _row(example(entry), next(texts), whose[entry.whose], next(texts), sure,
                       _sentence(entry.source))  # fmt: skip


# The API


def api() -> Iterator[str]:
    """Every operation of the API, by its OpenAPI description."""
    from jobsight.service.web import api

    app = FastAPI(title="Jobsight", version=__version__)
    app.include_router(api.router)
    described = app.openapi()
    schemas = described["components"]["schemas"]
    yield "# The API\n"
    yield _wrap("""
        JSON over HTTP, of [`jobsight serve`](../admin/service.md). `/openapi.json` of a running
        service is the same in machine-readable form. Times are µs since 1970 unless they are
        texts; spans are seconds. An error is `{"detail": TEXT}` with one of these statuses:
    """)
    first = next(iter(described["paths"].values()))
    statuses = next(iter(first.values()))["responses"]
    yield from _table("status", "meaning")
    for status, response in sorted(statuses.items()):
        if status != "200":
            yield _row(status, response["description"])
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            yield _anchored(f"`{method.upper()} {path}`")
            yield _prose(operation.get("description", ""))
            yield from _operation(operation, schemas)


def _operation(operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        _row(f"`{one['name']}`", one["in"], _of_schema(one["schema"], schemas),
             _sentence(one.get("description", "")))
        for one in operation.get("parameters", [])
        if one["in"] != "cookie"
    ]  # fmt: skip
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    example = None
    if reference:
        schema = schemas[reference]
        example = next(iter(schema.get("examples", [])), None)
        needed = schema.get("required", [])
        for name, field in schema["properties"].items():
            text = "required" if name in needed else ""
            rows.append(_row(f"`{name}`", "body", _of_schema(field, schemas), text))
    if rows:
        yield ""
        yield from _table("name", "in", "values", "meaning")
        yield from rows
    answered = operation["responses"]["200"].get("content", {}).get("application/json", {})
    for title, shown in (("Request", example), ("Answer", answered.get("example"))):
        if shown is not None:
            yield f"\n{title}:\n\n```json\n{json.dumps(shown, indent=1, ensure_ascii=False)}\n```"


FILES: Mapping[str, Callable[[], Iterator[str]]] = {
    "docs/reference/commands.md": commands,
    "docs/reference/settings.md": settings,
    "docs/reference/codes.md": codes,
    "docs/reference/hold-reasons.md": hold_reasons,
    "docs/reference/fields.md": fields,
    "docs/reference/api.md": api,
    "packaging/jobsight.1": manual,
    "src/jobsight/cli/completion.json": completion,
}
"""By path in the repository: what makes the lines of the file."""


def text_of(name: str) -> str:
    """A file as it should be: the same on every machine and for every user."""
    kept = dict(os.environ)
    try:
        for variable in list(os.environ):
            if variable.startswith(("JOBSIGHT_", "XDG_")):
                del os.environ[variable]
        os.environ.update(HOME=_HOME, COLUMNS="100", TERMINAL_WIDTH="100")
        return "\n".join(FILES[name]()).rstrip() + "\n"
    finally:
        os.environ.clear()
        os.environ.update(kept)


def main() -> None:
    """Write all files whose text has changed."""
    for name in FILES:
        path, text = ROOT / name, text_of(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path}")  # noqa: T201


if __name__ == "__main__":
    main()
