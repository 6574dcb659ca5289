"""The policy file that ``jobsight-submit.lua`` follows inside slurmctld.

It is data, never run: slurmctld has more rights than the account that writes it. First a line of
``jobsight-policy 1``, the mode, the time of writing (µs since 1970) and the number of rules, then a
line for each: user id, name of the job with ``#`` for each number, tokens, licences (both
``NAME:COUNT`` with commas between) and comment, with tabs between. In names, control characters,
``%`` and what is not ASCII are ``%XX``. It expires 24 hours after it was written.
"""

from __future__ import annotations

import pwd
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_from_bytes

from jobsight.clock import now_micros
from jobsight.errors import OutputError
from jobsight.files import write_shared
from jobsight.history.past import NUMBERS
from jobsight.settings import ActingSettings, Mode

__all__ = ["MOST_BYTES", "MOST_RULES", "Rule", "policy_file", "render", "withdraw",
           "write"]  # fmt: skip

MOST_RULES, MOST_BYTES = 10_000, 2 << 20
_COMMENT = re.compile(r"[ -~]{0,200}")
_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,64}")
_PLAIN = bytes(set(range(0x20, 0x7F)) - {ord("%")}).decode()


@dataclass(frozen=True)
class Rule:
    """What jobs of one user and name get at their submission.

    Attributes:
        tokens: how many of each of `jobsight.acting.sharing.vectors.RESOURCES` on each node.
        licences: how many of each licence of the cluster.
        comment: of AdminComment where that is empty: printable ASCII, 200 characters at most.
    """

    tokens: Mapping[str, int] = field(default_factory=dict)
    licences: Mapping[str, int] = field(default_factory=dict)
    comment: str = ""


def policy_file(settings: ActingSettings) -> Path:
    """Where the policy file is."""
    return settings.folder / "slurm-policy"


def render(rules: Mapping[tuple[str, str], Rule], mode: Mode, micros: int) -> str:
    """The text of a policy file.

    Args:
        rules: by user and job name; numbers in names do not count, and of equal names the first
            rule counts. Those of users that this machine does not know are left out, and so is
            what exceeds `MOST_RULES` or `MOST_BYTES`.
        mode: observe: slurmctld logs what it would do; advise: comments alone; enforce: all.
        micros: time of writing, since 1970.

    Raises:
        ValueError: a rule cannot be written: a name that Slurm does not take, a count below 1, a
            comment that is not printable ASCII.
    """
    uids = {user: _uid(user) for user in {user for user, _ in rules}}
    lines: dict[str, str] = {}
    size = 100  # the head
    for (user, name), rule in rules.items():
        if not _COMMENT.fullmatch(rule.comment):
            raise ValueError(f"not a comment of printable ASCII: {rule.comment!r}")
        pattern = re.sub(NUMBERS, "#", name).encode("utf-8", "surrogateescape")
        key = f"{uids[user]}\t{quote_from_bytes(pattern, safe=_PLAIN)}"
        counts = (",".join(_counted(each)) for each in (rule.tokens, rule.licences))
        line = "\t".join((key, *counts, rule.comment)) + "\n"
        if uids[user] is None or key in lines or size + len(line) > MOST_BYTES:
            continue
        lines[key] = line
        size += len(line)
        if len(lines) == MOST_RULES:
            break
    return f"jobsight-policy 1 {mode} {micros} {len(lines)}\n{''.join(lines.values())}"


def _uid(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid
    except (KeyError, ValueError, UnicodeEncodeError):
        return None


def _counted(counts: Mapping[str, int]) -> Iterator[str]:
    for name, count in counts.items():
        if not _NAME.fullmatch(name) or not 0 < count < 1_000_000:
            raise ValueError(f"not a token, nor a licence: {name!r}: {count}")
        yield f"{name}:{count}"


def write(settings: ActingSettings, rules: Mapping[tuple[str, str], Rule]) -> None:
    """Write the policy file in the mode of the settings, whole or not at all; off withdraws it.

    Raises:
        OutputError: it cannot be written; the old one stays until it expires.
        ValueError: as by `render`.
    """
    if settings.mode == "off":
        withdraw(settings)
        return
    text = render(rules, settings.mode, now_micros())
    write_shared(policy_file(settings), text)


def withdraw(settings: ActingSettings) -> bool:
    """Remove the policy file: within 2 seconds slurmctld follows none; whether there was one.

    Raises:
        OutputError: it cannot be removed.
    """
    path = policy_file(settings)
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise OutputError(f"cannot remove {path}: {error.strerror}") from None
    return True
