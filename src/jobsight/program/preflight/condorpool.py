"""JS410, JS411: amounts, and whether a slot of the pool has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.preflight.condorjob import CondorJob, megabytes
from jobsight.program.preflight.findings import Hit, hit, rule
from jobsight.text import one_slip

__all__: list[str] = []

_AMOUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:[KMGTP](?:i?B)?|B)?", re.I)


@rule("JS410 An amount that HTCondor cannot read", kind="condor")
def _amounts(job: CondorJob) -> Iterator[Hit]:
    """Numbers, or expressions of the job's attributes; memory without a unit is MB, disk KB."""
    for one in job.instances[:1] + job.instances[-1:]:
        for name in ("request_memory", "request_disk", "request_cpus", "request_gpus"):
            value = one.known(name)
            if not value or re.search(r"[()?<>*/+]|\b[A-Z]\w+[a-z]\w*\b.*[<>=]", value):
                continue
            whole = name in ("request_cpus", "request_gpus")
            good = re.fullmatch(r"\d+", value) if whole else _AMOUNT.fullmatch(value)
            form = r"(?i)undefined|ifthenelse.*|my\.\w+|target\.\w+"
            if good is None and not re.fullmatch(form, value):
                fix = "a whole number" if whole else f"{name} = 4GB"
                yield hit(one.setting(name), f"{name} = {value[:40]} is not an amount", fix)
            elif name == "request_memory" and re.fullmatch(r"[1-9]|1\d|[23]\d", value):
                message = f"{name} = {value} asks for {value} MB"
                yield hit(one.setting(name), message, f"{name} = {value}GB", severity="warning")
            elif name == "request_disk" and re.fullmatch(r"\d{1,3}", value) and value != "0":
                yield hit(one.setting(name), f"{name} = {value} asks for {value} KB",
                          f"{name} = {value}GB", severity="warning")  # fmt: skip
            elif name == "request_cpus" and value == "0":
                yield hit(one.setting(name), "request_cpus = 0", "request_cpus = 1")


@rule("JS411 No slot of the pool can run the job", kind="condor")
def _matches(job: CondorJob) -> Iterator[Hit]:
    """Requests and requirements against the ads of ``condor_status``."""
    if job.site is None or not job.site.slots:
        return
    slots = job.site.slots
    known = {name.lower() for ad in slots for name in ad}
    for one in job.instances[:1] + job.instances[-1:]:
        for attribute, unit in (("Memory", "m"), ("Disk", "k"), ("Cpus", ""), ("GPUs", "")):
            name = f"request_{attribute.lower()}"
            text = one.known(name)
            most = job.site.largest_slot.get(f"Request{attribute}", 0.0)
            if text is None or (not most and attribute != "GPUs"):
                continue
            asked = megabytes(text, unit) if unit else (float(text) if text.isdecimal() else None)
            most = most / 1024 if attribute == "Disk" else most
            if asked is not None and asked > most:
                amount = f"{most:,.0f} MB" if unit else f"{most:,.0f}"
                message = f"{name} = {text}: no slot of the pool has more than {amount}"
                yield hit(one.setting(name), message)
        text = one.known("requirements")
        plain = re.sub(r'"[^"]*"', "", text or "").lower()
        names = set(re.findall(r"[a-z_]\w*", plain))
        for name in sorted(names - known):
            close = (other for other in sorted(known) if len(name) > 4 and one_slip(name, other))
            near = next(close, None)
            if near is not None and not any(key.endswith(name) for key in one.queue.commands):
                yield hit(one.setting("requirements"), f"no slot has an attribute {name}", near)
        if text and names <= known | _WORDS and _never(text, slots):
            yield hit(one.setting("requirements"), "no slot of the pool meets the requirements")


def _never(text: str, slots: list[dict[str, str]]) -> bool:
    """Whether an expression is true of no slot; not known without HTCondor's own library."""
    try:
        import classad2
    except ImportError:
        return False
    try:
        expression = classad2.ExprTree(re.sub(r"(?i)\b(?:target|my)\.", "", text))
        for ad in slots[:5000]:
            slot = classad2.ClassAd()
            for name, value in ad.items():
                slot[name] = classad2.ExprTree(value)
            if expression.eval(slot) in (True, 1):
                return False
    except (classad2.ClassAdException, ValueError, SyntaxError, TypeError, RuntimeError):
        return False
    return True


_WORDS = {"true", "false", "undefined", "target", "my", "is", "isnt"}
"""Names in expressions that are no attributes; others that no slot has are those of the job."""
