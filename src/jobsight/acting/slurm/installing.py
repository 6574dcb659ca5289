"""The files for Slurm's administrators, the lines to add, and what their cluster still lacks."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from jobsight.acting.slurm.policy import TOKENS, policy_file
from jobsight.errors import UsageError
from jobsight.history.slurm.client import SlurmClient, SlurmError
from jobsight.program.submission.shown import shown_config, shown_records
from jobsight.settings import Settings

__all__ = ["Cluster", "filled"]

_FILES = files("jobsight.acting").joinpath("files", "slurm")
_OLDEST = (22, 5)
_CONSTANT = {
    ".lua": re.compile(r"^(local )([A-Z_]+)( = ).*$", re.M),
    ".sh": re.compile(r"^()([A-Z_]+)(=).*$", re.M),
}
_OUR_PATH = re.compile(r"/[\w/.\-]+/(?=jobsight-\w+\.)")
_SCRIPT = "in the script that it names, or in one that you name there"
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
    "jobsight-prolog.sh": ("Prolog", "", "{} || true", _SCRIPT),
    "jobsight-epilog.sh": ("Epilog", "", "{} || true", _SCRIPT),
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
        UsageError: the folder is unknown, or one that slurmctld's copies of files are in.
    """

    def __init__(self, settings: Settings, folder: Path | None) -> None:
        self._settings, self._client = settings, SlurmClient(settings.slurm)
        self._config, self._silent = {}, ""
        try:
            self._config = shown_config(self._client.run("scontrol", "show", "config"))
        except SlurmError as error:
            self._silent = str(error)
        conf = settings.slurm.conf or Path(self._config.get("slurm_conf", ""))
        if folder is None and (not conf.is_absolute() or conf.is_relative_to("/run")):
            reason = self._silent or f"{conf} is a copy that slurmctld sent"
            raise UsageError(f"name the folder of the files with --folder: {reason}")
        self._site, self.folder = conf.parent, (folder or conf.parent).resolve()

    def texts(self) -> dict[str, str]:
        """The text of each file by name, with what settings and cluster have.

        Those to install begin with ``jobsight-``; the others are examples of scripts that call
        them.
        """
        acting = self._settings.acting
        values = {name.upper(): value for name, value in acting if value is not None}
        values |= {"POLICY": policy_file(acting), **self._resources()}
        if self._settings.serve.socket is not None:
            values["SOCKET"] = self._settings.serve.socket
        texts = {}
        for file in sorted(_FILES.iterdir(), key=lambda file: file.name):
            text = _OUR_PATH.sub(lambda _: f"{self.folder}/", file.read_text("utf-8"))
            texts[file.name] = filled(text, Path(file.name).suffix, values)
        return texts

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
            tokens = {name: int(count) for name, count in counts if name in TOKENS}
            for partition in filter(None, node.get("Partitions", "").split(",")):
                partitions[partition].append(tokens)
        names = sorted({name for each in partitions.values() for tokens in each for name in tokens})
        whole = {
            partition: each
            for partition, each in partitions.items()
            if names and all(set(names) <= set(tokens) for tokens in each)
        }
        least = {
            name: min(t[name] for each in whole.values() for t in each) for name in names if whole
        }
        totals = re.findall(r"^LicenseName=([\w.\-]+) Total=(\d+).* Remote=no", licences, re.M)
        return {
            "TOKENS": ",".join(f"{name}:{count}" for name, count in least.items()),
            "PARTITIONS": ",".join(sorted(whole)),
            "LICENCES": ",".join(f"{name}:{count}" for name, count in totals),
        }

    def _scripts(self) -> Iterator[tuple[str, Path | None]]:
        """Our files, and the script of the site that calls each; None: there is none yet."""
        for name, (setting, plugin, *_) in _HOOKS.items():
            if _FILES.joinpath(name).is_file():
                value = self._config.get(setting.lower(), "")
                path = self._site / f"{plugin}.lua" if plugin else Path(value)
                yield name, path if path.is_absolute() and path.is_file() else None

    def lines(self) -> Iterator[str]:
        """What to add to the site's own scripts."""
        for name, script in self._scripts():
            setting, plugin, line, where = _HOOKS[name]
            place = script or (f"{plugin}.lua next to slurm.conf" if plugin else setting)
            yield f"to {place}, {where}:"
            yield f"  {line.format(self.folder / name)}"

    def missing(self, user: str) -> Iterator[str]:
        """What keeps the files from being used, or this user from writing, and what to do."""
        if self._silent:
            yield f"the cluster's configuration ({self._silent})"
            return
        version = self._config.get("slurm_version", "")
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST:
            yield f"Slurm 22.05 or later: this is {version or 'of unknown version'}"
        plugins = [Path(folder) for folder in self._config.get("plugindir", "").split(":")]
        for name, script in self._scripts():
            setting, plugin, *_ = _HOOKS[name]
            library = f"{plugin}_lua.so"
            if plugin and not re.search(r"\blua\b", self._config.get(setting.lower(), "")):
                yield f"lua in {setting} of slurm.conf"
            if plugin and not any(
                (folder / library).exists() or not folder.is_dir() for folder in plugins
            ):
                yield f"{library} in {plugins[0]}: install Slurm's Lua plugins"
            if script is None or name not in _text(script):
                yield f"the line for {name}: {script or setting + ' of slurm.conf'} lacks it"
        if not self._resources().get("PARTITIONS"):
            yield f"a partition whose nodes all have {' or '.join(TOKENS)}: jobs get no tokens"
        folder = self._settings.acting.folder
        if folder.is_dir() and not folder.stat().st_mode & 0o001:
            yield f"the right of SlurmUser to read the policy: chmod o+x {folder}"
        owner = self._config.get("slurmuser", "").partition("(")[0]
        if user not in ("root", owner) and not self._is_operator(user):
            yield (
                f"the right of {user} to write AdminComment: "
                f"sacctmgr modify user name={user} set AdminLevel=Operator"
            )

    def _is_operator(self, user: str) -> bool:
        words = ("-n", "-P", "show", "user", f"name={user}", "format=AdminLevel")
        with contextlib.suppress(SlurmError):
            return self._client.run("sacctmgr", *words).strip() in ("Operator", "Administrator")
        return False

    def callers(self) -> Iterator[tuple[str, str]]:
        """Our files that the site calls still, and its script or setting that does."""
        for name, script in self._scripts():
            if script is not None and name in _text(script):
                yield name, str(script)
        for setting in ("prolog", "epilog"):
            for name in _HOOKS:
                if str(self.folder / name) in self._config.get(setting, ""):
                    yield name, f"{setting.title()} of slurm.conf"


def filled(text: str, suffix: str, values: Mapping[str, object]) -> str:
    """A file's text with the values of the constants at its head."""

    def fill(constant: re.Match[str]) -> str:
        if (value := values.get(constant[2])) is None:
            return constant[0]
        shown = str(int(value) if isinstance(value, bool) else value)
        if suffix == ".sh":
            shown = shlex.quote(shown)
        elif not isinstance(value, int | float):
            plain = (
                chr(b) if 31 < b < 127 and b not in b'"\\' else f"\\{b:03d}" for b in shown.encode()
            )
            shown = f'"{"".join(plain)}"'
        return constant[1] + constant[2] + constant[3] + shown

    return _CONSTANT[suffix].sub(fill, text) if suffix in _CONSTANT else text


def _text(script: Path) -> str:
    try:
        return script.read_text("utf-8", "replace")
    except OSError:
        return ""
