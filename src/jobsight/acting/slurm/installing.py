"""The files for Slurm's administrators, the lines to add, and what their cluster still lacks."""

from __future__ import annotations

import contextlib
import glob
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from jobsight.acting.filling import filled_files
from jobsight.acting.sharing.vectors import RESOURCES
from jobsight.acting.slurm.policy import policy_file
from jobsight.errors import SourceError, UsageError
from jobsight.history.slurm.client import SlurmClient, SlurmError
from jobsight.program.submission.shown import shown_config, shown_records
from jobsight.settings import Settings

__all__ = ["Cluster"]

_OLDEST = (22, 5)
_FOLDER = re.compile(r"/[\w/.\-]+(?=/jobsight-\w+\.)")
_HOOKS = {
    "jobsight-submit.lua": (
        *("JobSubmitPlugins", "job_submit", 'pcall(dofile, "{}")'),
        "after the function slurm_job_submit, before a last line that begins with `return`",
    ),
    "jobsight-cli.lua": (
        *("CliFilterPlugins", "cli_filter"),
        'pcall(function() dofile("{}").pre_submit(options, pack_offset) end)',
        "in the function slurm_cli_pre_submit",
    ),
    "jobsight-prolog.sh": ("Prolog", "", "{} || true", "in a script that it names"),
    "jobsight-epilog.sh": ("Epilog", "", "{} || true", "in a script that it names"),
}
"""By file of ours: setting of slurm.conf, plugin that its Lua is for, line to add, and where."""


class Cluster:
    """The cluster in which files are installed.

    Args:
        settings: of all.
        folder: of our files; None: that of slurm.conf.

    Attributes:
        folder: the same, always known.

    Raises:
        UsageError: the folder is unknown, or one that slurmctld sends its files to.
    """

    def __init__(self, settings: Settings, folder: Path | None) -> None:
        self._settings, self._client = settings, SlurmClient(settings.slurm)
        self._config: dict[str, str] = {}
        self._silent = ""
        try:
            self._config = shown_config(self._client.run("scontrol", "show", "config"))
        except SlurmError as error:
            self._silent = str(error)
        conf = settings.slurm.conf or Path(self._config.get("slurm_conf", ""))
        if folder is None and (not conf.is_absolute() or conf.is_relative_to("/run")):
            reason = self._silent or f"{conf} is a copy that slurmctld sent"
            raise UsageError(f"name the folder of the files with --folder: {reason}")
        self._site, self.folder = conf.parent, (folder or conf.parent).resolve()

    def texts(self, program: Path) -> dict[str, str]:
        """The text of each file by name, with what settings and cluster have.

        Those to install begin with ``jobsight-``; others are examples of scripts that call them.

        Args:
            program: this command, as it is called on the nodes.
        """
        acting = self._settings.acting
        more = {
            "JOBSIGHT": program, "SOCKET": self._settings.serve.socket,
            "POLICY": policy_file(acting), "SHARE": acting.profile_share if acting.profiles else 0,
            **self._resources(),
        }  # fmt: skip
        return filled_files("slurm", _FOLDER, self.folder, acting, **more)

    def _resources(self) -> dict[str, str]:
        """Tokens and licences that jobs can get; partitions in which each node has the tokens."""
        try:
            nodes = self._client.run("scontrol", "--local", "--oneliner", "show", "node")
            licences = self._client.run("scontrol", "--oneliner", "show", "licenses")
        except SlurmError:
            return {}
        partitions: defaultdict[str, list[dict[str, int]]] = defaultdict(list)
        for node in shown_records(nodes, "NodeName"):
            counts = re.findall(r"(?:^|,)(\w+):(\d+)", node.get("Gres", ""))
            tokens = {name: int(count) for name, count in counts if name in RESOURCES}
            for partition in filter(None, node.get("Partitions", "").split(",")):
                partitions[partition].append(tokens)
        names = {name for each in partitions.values() for tokens in each for name in tokens}
        whole = {
            partition: each
            for partition, each in partitions.items()
            if names and all(names <= set(tokens) for tokens in each)
        }
        least = (
            f"{name}:{min(tokens[name] for each in whole.values() for tokens in each)}"
            for name in sorted(names if whole else ())
        )
        totals = re.findall(r"^LicenseName=([\w.\-]+) Total=(\d+).* Remote=no", licences, re.M)
        return {
            "TOKENS": ",".join(least),
            "PARTITIONS": ",".join(sorted(whole)),
            "LICENCES": ",".join(map(":".join, totals)),
        }

    def _scripts(self, name: str) -> list[Path]:
        """The site's scripts that call a file of ours, or may."""
        setting, plugin, *_ = _HOOKS[name]
        named = [
            path
            for key, value in self._config.items()
            if key.partition("[")[0] == setting.lower() and value.startswith("/")
            for path in glob.glob(value)  # noqa: PTH207 - a pattern with a whole path
        ]
        paths = [self._site / f"{plugin}.lua"] if plugin else [Path(path) for path in named]
        return [path for path in paths if path.is_file()]

    def callers(self) -> Iterator[tuple[str, str]]:
        """Our files that the site calls, and the scripts that do."""
        for name in _HOOKS:
            for script in self._scripts(name):
                with contextlib.suppress(OSError):
                    if script.name == name or name in script.read_text("utf-8", "replace"):
                        yield name, str(script)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Where to add a line to the site's own scripts, and the line."""
        for name, (setting, plugin, line, where) in _HOOKS.items():
            place = f"{plugin}.lua next to slurm.conf" if plugin else f"{setting} of slurm.conf"
            place = f"{next(iter(self._scripts(name)), place)}, {where}"
            yield place, line.format(self.folder / name)

    def require_config(self) -> None:
        """Refuse to go on where the cluster's configuration is not known.

        Raises:
            SourceError: it is not.
        """
        if self._silent:
            raise SourceError(f"the cluster's configuration is not known: {self._silent}")

    def missing(self, user: str) -> Iterator[str]:
        """What keeps the files from being used, or this user from writing, and what to do."""
        if self._silent:
            yield f"the cluster's configuration: {self._silent}"
            return
        version = self._config.get("slurm_version", "")
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
            yield f"Slurm 22.05 or later: this is {version or 'of unknown version'}"
        called = {name for name, _ in self.callers()}
        plugins = [Path(folder) for folder in self._config.get("plugindir", "").split(":")]
        for name, (setting, plugin, *_) in _HOOKS.items():
            library = f"{plugin}_lua.so"
            if plugin and not re.search(r"\blua\b", self._config.get(setting.lower(), "")):
                yield f"lua in {setting} of slurm.conf"
            if plugin and all(f.is_dir() and not (f / library).exists() for f in plugins):
                yield f"{library} in {plugins[0]}: install Slurm's Lua plugins"
            if name not in called:
                yield f"a call of {name}"
        if not self._resources().get("PARTITIONS"):
            yield f"a partition whose nodes all have {' or '.join(RESOURCES)}: no job gets tokens"
        folder = self._settings.acting.folder
        if folder.is_dir() and not folder.stat().st_mode & 0o001:
            yield f"SlurmUser's right to read the policy: chmod o+x {folder}"
        owner = self._config.get("slurmuser", "").partition("(")[0]
        if user not in ("root", owner) and not self._is_administrator(user):
            change = f"sacctmgr modify user name={user} set AdminLevel=Administrator"
            yield f"the right of {user} to write AdminComment: {change}"

    def _is_administrator(self, user: str) -> bool:
        words = ("-n", "-P", "show", "user", f"name={user}", "format=AdminLevel")
        with contextlib.suppress(SlurmError):
            return self._client.run("sacctmgr", *words).strip() == "Administrator"
        return False
