"""HTCondor's tools: run without a shell, within a time limit, and counted.

Queue and history are read as JSON (``-json``), which all supported versions print.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from jobsight.commands import Ended, child_environment, find_tool, run_command
from jobsight.errors import SourceError
from jobsight.settings import CondorSettings
from jobsight.text import printable, without_surrogates

__all__ = ["Ad", "CondorClient"]

Ad = dict[str, Any]
"""A job ad: values as JSON has them."""

_MOST_OUTPUT = 256 << 20
_MOST_AD = 1 << 20
_IDLE, _HELD, _MOST_HELD = 1, 5, 2000
_STOPPED = (f"JobStatus == {_HELD}", f"JobStatus == {_IDLE} && VacateReasonCode > 1")
"""Apart, so that those vacated, for whatever reason, leave no held one out."""
_NAME = re.compile(rb'^Name = "([^"\\\r\n]{1,255})"\s*$', re.MULTILINE)
_EDITED = re.compile(rb"^Set attribute .* for (\d+) matching jobs", re.MULTILINE)
_SLOT = ("Memory", "Disk", "Cpus", "GPUs")
_AMOUNT = re.compile(r"\d{1,18}(?:\.\d{1,9})?", re.ASCII)
_SHOWN = 200
_MOST_ANALYSIS, _ANALYSIS_LINES = 1 << 16, 30


def _of(owner: str | None) -> list[str]:
    return [] if owner is None else ["-constraint", f'Owner == "{owner}"']


def _shown(attributes: Collection[str]) -> list[str]:
    return ["-attributes", ",".join(attributes), "-json"]


def _sound(ad: Ad) -> Ad:
    """The ad with texts that a document can hold."""
    return {
        without_surrogates(name): without_surrogates(value) if isinstance(value, str) else value
        for name, value in ad.items()
    }


class CondorClient:
    """HTCondor's tools as functions. One thread at a time. All raise SourceError without an answer.

    Args:
        settings: where the tools are, and their limits.
        schedd: name of the schedd; None: this machine's.

    Attributes:
        schedd: see above.
        calls: how often each command was run.
    """

    def __init__(self, settings: CondorSettings, *, schedd: str | None = None) -> None:
        self.schedd = schedd
        self.calls: Counter[str] = Counter()
        self._settings = settings
        self._where = [] if schedd is None else ["-name", schedd]

    def queue(self, jobs: Collection[str]) -> list[Ad]:
        """The ads of these jobs (``12.0``) that are in the queue, in one call."""
        return self._ads("condor_q", ["-allusers", *self._where, "-json", *sorted(jobs)])

    def held(self, jobs: Collection[str]) -> list[Ad]:
        """The ads of held jobs: of these jobs and clusters, or of all, but of a bounded number.

        And of idle ones that were vacated, for whatever reason.
        """
        named = [sorted(jobs)] if jobs else []
        which = named or [["-constraint", each, "-limit", str(_MOST_HELD)] for each in _STOPPED]
        ads = {
            (ad.get("ClusterId"), ad.get("ProcId")): ad
            for words in which
            for ad in self._ads("condor_q", ["-allusers", *self._where, "-json", *words])
        }
        return [
            ad
            for ad in ads.values()
            if (status := ad.get("JobStatus")) == _HELD
            or (status == _IDLE and ad.get("VacateReasonCode"))
        ]

    def all_held(self, attributes: Collection[str]) -> list[Ad]:
        """These attributes of all held jobs."""
        return self._all(_HELD, attributes)

    def all_idle(self, attributes: Collection[str]) -> list[Ad]:
        """These attributes of all idle jobs."""
        return self._all(_IDLE, attributes)

    def _all(self, status: int, attributes: Collection[str]) -> list[Ad]:
        chosen = ["-constraint", f"JobStatus == {status}"]
        return self._ads("condor_q", ["-allusers", *self._where, *chosen, *_shown(attributes)])

    def edit(self, constraint: str, values: Mapping[str, str]) -> int:
        """Set attributes in all jobs of which `constraint` is true, in one transaction.

        By condor_qedit of the site's own version: bindings of another release line read the queue
        of an older schedd, but cannot authenticate to change it. The account must be one of
        QUEUE_SUPER_USERS, as others change only their own jobs.

        Args:
            constraint: an expression.
            values: expressions by attribute.

        Returns:
            How many jobs were changed.
        """
        words = [f"{name}={value}" for name, value in values.items()]
        ended = self._run("condor_qedit", [*self._where, "-constraint", constraint, *words])
        if ended.status == 0:
            return max(map(int, _EDITED.findall(ended.stdout)), default=0)
        # It fails in the same words where no job is left to change.
        count = ["-allusers", *self._where, "-limit", "1", "-constraint", constraint]
        if not self._ads("condor_q", [*count, *_shown(["ClusterId"])]):
            return 0
        message = printable(ended.stderr.decode("utf-8", "replace"), _SHOWN)
        raise SourceError(f"condor_qedit: {message or f'failed with status {ended.status}'}")

    def reconfigure(self) -> None:
        """Have the schedd read its configuration, and the files that this names, again."""
        ended = self._run("condor_reconfig", ["-schedd", *self._where])
        if ended.status != 0:
            message = printable(ended.stderr.decode("utf-8", "replace"), _SHOWN)
            raise SourceError(f"condor_reconfig: {message or f'failed with status {ended.status}'}")

    def history(self, jobs: Collection[str]) -> list[Ad]:
        """The ads of these jobs that have left the queue, in one call."""
        # Without a limit, history is read to its end for each job that it does not have.
        limits = ["-match", str(len(jobs)), "-scanlimit", str(self._settings.scan_limit)]
        return self._ads("condor_history", [*self._where, *limits, "-json", *sorted(jobs)])

    def queue_of(self, owner: str | None, attributes: Collection[str], most: int) -> list[Ad]:
        """These attributes of the jobs of an owner (None: of all) in the queue, of `most` jobs."""
        words = ["-allusers", *self._where, "-limit", str(most), *_shown(attributes)]
        return self._ads("condor_q", words + _of(owner))

    def history_of(
        self, owner: str | None, attributes: Collection[str], most: int, since: str | None
    ) -> list[Ad]:
        """The same of jobs that have left the queue, newest first.

        `since` is an expression: from the first ad on of which it is true, nothing is read, and no
        more ads are looked through than the settings allow. None: all of the history is read, and
        ads of other owners are passed over ten times as fast.
        """
        words = [*self._where, "-limit", str(most), *_shown(attributes)]
        if since is None and owner is not None and not owner.isdigit():
            return self._ads("condor_history", [*words, owner])
        words += ["-scanlimit", str(self._settings.scan_limit), *_of(owner)]
        return self._ads("condor_history", words if since is None else [*words, "-since", since])

    def analysis(self, job: str) -> list[str]:
        """What ``condor_q -better-analyze`` says of an idle job (``12.0``): its last lines."""
        ended = self._run("condor_q", [*self._where, "-better-analyze", job])
        text = (ended.stdout or ended.stderr)[-_MOST_ANALYSIS:].decode("utf-8", "replace")
        lines = (printable(line, _SHOWN) for line in text.splitlines())
        return [line for line in lines if line][-_ANALYSIS_LINES:]

    def setting(self, name: str) -> str | None:
        """The value in HTCondor's configuration; None: unset, or the tool is missing."""
        tool = "condor_config_val"
        if not self.has(tool):
            return None
        ended = self._run(tool, [name])
        value = ended.stdout.decode("utf-8", "surrogateescape").strip()
        return value if ended.status == 0 and value and "\n" not in value else None

    def largest_slot(self) -> dict[str, float]:
        """The most that a slot has: RequestMemory (MB), RequestDisk (KB), RequestCpus, RequestGPUs.

        Nothing where the collector gives no answer.
        """
        if not self.has("condor_status"):
            return {}
        columns = [form.format(name) for name in _SLOT for form in ("{}", "TotalSlot{}")]
        with contextlib.suppress(SourceError):
            ended = self._run("condor_status", ["-af", *columns])
            rows = [line.split() for line in ended.stdout.decode("ascii", "replace").splitlines()]
            amounts = [[float(one) if _AMOUNT.fullmatch(one) else 0.0 for one in row]
                       for row in rows if len(row) == len(columns)]  # fmt: skip
            most = [max(column) for column in zip(*amounts, strict=True)]
            found = {f"Request{name}": max(most[2 * k : 2 * k + 2]) for k, name in enumerate(_SLOT)
                     if most}  # fmt: skip
            return {name: amount for name, amount in found.items() if amount}
        return {}

    def slots_with_gpus(self) -> list[Ad]:
        """The ads of slots that have GPUs when nothing runs in them."""
        return self._ads("condor_status", ["-json", "-constraint", "TotalSlotGPUs > 0"])

    def schedd_name(self) -> str | None:
        """What this machine's schedd calls itself, in logs and in GlobalJobId; None: unknown.

        By the file with its ad, else the host's name, unless the setting SCHEDD_NAME is another.

        Raises:
            SourceError: SCHEDD_NAME is set and that file cannot be read.
        """
        file = self.setting("SCHEDD_DAEMON_AD_FILE")
        # Behind a prefix tools may run elsewhere, where files are others.
        if file is not None and not self._settings.prefix:
            with contextlib.suppress(OSError), Path(file).open("rb") as stream:
                if named := _NAME.search(stream.read(_MOST_AD)):
                    return named[1].decode("utf-8", "replace")
        if self.setting("SCHEDD_NAME") is None:
            return self.setting("FULL_HOSTNAME")
        raise SourceError(
            "HTCondor's configuration sets SCHEDD_NAME, and the file where the schedd writes what "
            f"it is called ({printable(file or 'SCHEDD_DAEMON_AD_FILE', _SHOWN)}) cannot be read; "
            "set access_point to the name that condor_status -schedd shows"
        )

    def has(self, tool: str) -> bool:
        """Whether a tool is where the settings say; behind a prefix, it is supposed to be."""
        return find_tool(tool, self._settings.bin, self._settings.prefix) is not None

    def _ads(self, tool: str, arguments: list[str]) -> list[Ad]:
        ended = self._run(tool, arguments)
        if ended.status != 0:
            message = printable(ended.stderr.decode("utf-8", "replace"), _SHOWN)
            raise SourceError(f"{tool}: {message or f'failed with status {ended.status}'}")
        try:
            # Ads may hold bytes that are not UTF-8, control characters, and NaN.
            text = ended.stdout.decode("utf-8", "replace").strip() or "[]"
            ads = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            raise SourceError(f"{tool} printed no JSON") from None
        if not isinstance(ads, list):
            raise SourceError(f"{tool} printed no list of ads")
        return [_sound(ad) for ad in ads if isinstance(ad, dict)]

    def _run(self, tool: str, arguments: list[str]) -> Ended:
        """How the tool ended by itself, well or not."""
        settings = self._settings
        found = find_tool(tool, settings.bin, settings.prefix)
        if found is None:
            where = "on the PATH" if settings.bin is None else f"in {settings.bin}"
            raise SourceError(f"{tool} is not {where}; name its folder in the setting condor.bin")
        environment = child_environment()
        if settings.config is not None:
            environment["CONDOR_CONFIG"] = str(settings.config)
        words = [*settings.prefix, found, *arguments]
        self.calls[tool] += 1
        try:
            ended = run_command(
                words, env=environment, timeout=settings.timeout, most_output=_MOST_OUTPUT
            )
        except OSError as error:
            raise SourceError(f"cannot run {words[0]}: {error.strerror or error}") from None
        if ended.overflow:
            raise SourceError(f"{tool} printed more than {_MOST_OUTPUT >> 20} MB")
        if ended.status is None:
            limit = f"{settings.timeout:g} s"
            raise SourceError(f"{tool} gave no answer within {limit} (setting condor.timeout)")
        return ended
