"""The command ``jobsight``: verbs, exit statuses, and one line for every error.

Exit status 0: an answer was given; 1: an error; 2: the call itself is wrong; 3: a check of
`verify` failed. Nothing but the answer is written to standard output; progress and errors go to
standard error.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from jobsight import __version__
from jobsight.cli.output import flush, some_unread
from jobsight.cli.verbs import LazyGroup
from jobsight.errors import JobsightError, UsageError
from jobsight.jit import uncompiled
from jobsight.kernelcache import compile_later
from jobsight.runtime import install_command
from jobsight.text import visible

__all__ = ["app", "main"]


def _finish(_result: object, **_options: object) -> None:
    if some_unread():
        raise typer.Exit(1)


app = typer.Typer(
    name="jobsight",
    cls=LazyGroup,
    help="Tells how a batch job will behave on HTCondor and Slurm clusters.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    result_callback=_finish,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"jobsight {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Without a verb: your jobs as one JSON object for machines."),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Without a verb: the store that has your jobs."),
    ] = None,
) -> None:
    some_unread()
    if context.invoked_subcommand is not None:
        if as_json or store is not None:
            raise UsageError(f"{'--json' if as_json else '--store'} goes after the verb")
        return
    # By their names, as verbs: they import this module.
    is_terminal = import_module("jobsight.cli.terminal").is_terminal
    if as_json or is_terminal():
        overview = import_module("jobsight.cli.overview").overview
        if overview(store, as_json=as_json):
            return
    typer.echo(context.get_help(), err=True)
    raise typer.Exit(2)


_NO_MEMORY = (
    "out of memory; give fewer logs at a time, or raise the limit (ulimit -v), if one is set"
)

_EXTRAS = {
    **dict.fromkeys(("lightgbm", "matplotlib", "scipy", "sklearn"), "learn"),
    **dict.fromkeys(
        ("fastapi", "jinja2", "jwt", "prometheus_client", "starlette", "uvicorn"), "serve"
    ),
    **dict.fromkeys(("mcp", "mcp_types"), "mcp"),
    "confluent_kafka": "kafka",
    "optuna": "sweep",
}
"""By the name of a module that only some verbs need: the extra that installs it."""


def main(words: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status; `words`: None: those of the process."""
    try:
        Path.home()
    except RuntimeError:
        # HOME is not set and the user id has no name, as in containers and batch jobs: what is kept
        # there is refused as in any folder that cannot be written. Libraries look there too.
        os.environ["HOME"] = "/nonexistent"
    if sys.stderr is None:  # it was closed (`2>&-`)
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Bars, dashes and file names that the locale's encoding lacks become question marks.
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            app(words)
        except SystemExit as leaving:
            if isinstance(leaving.__context__, BrokenPipeError):  # typer makes status 1 of it
                raise leaving.__context__ from None
            flush()  # now, while a full disk can still be reported
            if uncompiled():
                compile_later()
            raise leaving from None
    except JobsightError as error:
        _leave(str(error), error.exit_status)
    except BrokenPipeError:
        # The reader of the output went away (`| head`).
        _abandon_output()
        sys.exit(0)
    except OSError as error:
        _leave(_text_of(error))
    except MemoryError:
        _leave(_NO_MEMORY)
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if isinstance(error, ModuleNotFoundError) and missing in _EXTRAS:
            _leave(f"{missing} is not installed: {install_command(_EXTRAS[missing])}")
        if "failed to map segment" not in str(error):
            raise
        _leave(_NO_MEMORY)  # so says the loader of libraries under `ulimit -v`


def _leave(text: str, status: int = 1) -> NoReturn:
    """End with one line on standard error."""
    _abandon_output()
    print(f"jobsight: {visible(text)}", file=sys.stderr)  # noqa: T201
    sys.exit(status)


def _text_of(error: OSError) -> str:
    if error.filename is None and isinstance(error, FileNotFoundError):
        try:
            Path.cwd()
        except FileNotFoundError:
            return "the current folder was removed; change to another"
    named = "" if error.filename is None else f"{error.filename}: "
    return f"{named}{error.strerror or error}"


def _abandon_output() -> None:
    """Drop what still waits for standard output, if it cannot be written."""
    try:
        flush()
    except (JobsightError, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
