"""The verbs of the command line: the module of a verb is imported when the verb is called."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

__all__ = ["VERBS", "LazyGroup"]

VERBS = {
    "events": ("events:events", "Read HTCondor event logs; write the event table."),
    "import": ("import_:import_", "Import accounting, traces and logs into the store."),
    "collect": ("collect:collect", "Collect what happens to jobs into the store, continuously."),
    "store": ("", "Inspect, export, prune and check the store of job documents."),
    "store status": ("store:status", "Show its size, its jobs by state, and its sources."),
    "store export": ("store:export", "Write a snapshot (Parquet files) to train from."),
    "store prune": ("store:prune", "Move jobs that ended long ago to the archive."),
    "store check": ("store:check", "Read everything, and report what is damaged."),
    "jobs": ("jobs:jobs", "List the jobs in the store, newest first."),
    "job": ("job:job", "Show all that is known of a job."),
    "why": ("why:why", "Jobs, or output files: why did it fail, and what to do?"),
    "frames": ("frames:frames", "Export the frames of released jobs for your own studies."),
    "train": ("train:train", "Learn from history and write a model."),
    "sweep": ("", "Search for better parameters, here or on a cluster."),
    "sweep node": ("sweepnode:app", ""),
    "sweep plan": (
        "sweep:plan",
        "Write all that the sweep needs into its folder; start nothing.",
    ),
    "sweep submit": ("sweep:submit", "Start the sweep, or continue it where it stopped."),
    "sweep status": (
        "sweep:status",
        "Show its progress, its failures and the best run so far.",
    ),
    "sweep cancel": ("sweep:cancel", "Stop it; submit continues it."),
    "sweep collect": ("sweep:collect", "Choose, test, register and report the best run."),
    "sweep best": ("sweep:best", "Show the best run, its test, and where its model is."),
    "sweep cleanup": (
        "sweep:cleanup",
        "Remove checkpoints and scheduler files.",
    ),
    "evaluate": ("evaluate:evaluate", "Judge a trained model on logs."),
    "verify": ("verify:verify", "Audit a trained model."),
    "hold": ("hold:hold", "Held jobs: release, wait, fix or remove?"),
    "start": ("start:start", "Pending jobs, or a script: when will it start, how long run?"),
    "fail": ("fail:fail", "Pending and running jobs, or a script: will it fail, and why?"),
    "check": ("check:check", "Batch scripts and submit files: what will fail, before they run?"),
    "bound": ("bound:bound", "Programs, or jobs: which resource will bind them?"),
    "profile": ("profile:profile", "Run a command, or watch processes: what binds them?"),
    "review": ("review:review", "Were the stored predictions right? By week and by model."),
    "report": ("report:report", "Write a report as one HTML page."),
    "serve": ("serve:serve", "Answer people and programs over HTTP, until it is stopped."),
    "token": ("", "Who may ask the service from elsewhere."),
    "token add": ("serve:add_token", "Make a token for a user and print it, this once."),
    "token list": ("serve:list_tokens", "Show the tokens that were made."),
    "token remove": ("serve:remove_token", "Make a token invalid."),
    "acting": ("", "Act on held jobs through the scheduler; off by default."),
    "acting run": ("acting:run", "Write answers into held jobs, round by round."),
    "acting status": ("acting:status", "Show the mode, the switch and what is marked."),
    "acting off": ("acting:off", "Stop all that acts, and take back what a policy could act on."),
    "acting on": ("acting:on", "Remove the kill file that `acting off` wrote."),
    "share": ("", "Which jobs may share a node, and what sharing costs them."),
    "share policy": ("share:policy", "Give tokens to kinds of job by what they use."),
    "share measure": ("share:measure", "Measure how programs slow each other on this node."),
    "share replay": ("share:replay", "Play a history on nodes that jobs share."),
    "share status": ("share:status", "Show the matrix that is used, and how old the policy is."),
    "setup": ("", "Install what lets the machine run Jobsight by itself."),
    "setup kernels": ("setup:kernels", "Compile what reads large histories, once per machine."),
    "setup systemd": ("setup:systemd", "Write the units of collector, service and timers."),
    "setup htcondor": ("setup:htcondor", "Write the policy files for HTCondor, show what to add."),
    "setup slurm": ("setup:slurm", "Write the files for Slurm, show what to add and what lacks."),
    "mcp": ("mcp:mcp", "Answer an assistant over standard input and output."),
    "models": ("", "List, show, compare, promote and remove models."),
    "models list": ("models:list_", "List the models; a star marks a champion."),
    "models show": ("models:show", "Show its data, its scores, and when it was champion."),
    "models compare": ("promote:compare", "Which of two models is better?"),
    "models promote": ("promote:promote", "Make a model champion if it is surely better."),
    "models remove": ("models:remove", "Delete a model; that it existed stays on record."),
}
"""By verb: ``module:name`` in `jobsight.cli` of a function or a `typer.Typer`, "" for a group of
the verbs that begin so; and its line in the help, "" for a hidden verb."""

_PASSES_ON: dict[str, dict[str, Any]] = {
    "fail": {"ignore_unknown_options": True},
    "start": {"ignore_unknown_options": True},
    "profile": {"allow_interspersed_args": False},
}
"""Verbs that take options of other commands, and how click reads these."""


class LazyGroup(TyperGroup):
    """The verbs of the table that begin with `prefix`; calling one imports its module."""

    def __init__(self, *, prefix: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.params.append(_no_color())
        self._prefix = prefix
        names = {verb: verb.removeprefix(prefix) for verb in VERBS if verb.startswith(prefix)}
        # All that help, completion and suggestions need of a verb.
        self.commands = {
            name: TyperCommand(name, help=VERBS[verb][1], hidden=not VERBS[verb][1])
            for verb, name in names.items()
            if " " not in name
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called, from its own module; to complete its words, from a table."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, command, rest
        verb = self._prefix + name
        if ctx.resilient_parsing and VERBS[verb][0]:
            from jobsight.cli.completion import command_to_complete

            return name, command_to_complete(verb), rest
        return name, _command(verb, name), rest


@cache
def _command(verb: str, name: str) -> Any:
    target, help_ = VERBS[verb]
    if not target:
        return LazyGroup(
            prefix=f"{verb} ", name=name, help=help_, no_args_is_help=True, rich_markup_mode=None
        )
    module, _, attribute = target.partition(":")
    found = getattr(importlib.import_module(f"jobsight.cli.{module}"), attribute)
    app = typer.Typer(rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name, context_settings=_PASSES_ON.get(verb, {}))(found)
    command = typer.main.get_group(app).commands[name]
    command.params.append(_no_color())
    return command


def _no_color() -> TyperOption:
    """The option of every verb and group."""

    def callback(_context: object, _option: object, wanted: bool) -> None:
        if wanted:
            from jobsight.cli.terminal import without_colours

            without_colours()

    return TyperOption(
        param_decls=["--no-color"], is_flag=True, is_eager=True, expose_value=False,
        callback=callback, help="Print without colours, as NO_COLOR does.",
    )  # fmt: skip
