"""What the text of a reason contains: its stable cause, and the places and figures it names.

Reasons are written by HTCondor's daemons, transfer plug-ins and users, so they are hostile input:
everything here is bounded, and no text raises an error. The shapes are from HTCondor's sources
(starter, shadow, ``file_transfer.cpp``) and real logs.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import msgspec
import polars as pl

from jobsight.errors import OutputError
from jobsight.files import new_file
from jobsight.history.jobads import parse_ad
from jobsight.runtime import cache_folder

__all__ = [
    "amounts_named",
    "bare_number",
    "exit_named",
    "kept_masks",
    "mask",
    "masked",
    "origin",
    "origins",
    "over_unique",
    "site",
    "sites",
]

MASK_LENGTH = 200
"""A masked reason has at most this many characters."""

_READ_LENGTH = 1500

_REMEMBERED = 1 << 14
"""Texts whose answers are kept: a history is often indexed again with a few more rows. None is
longer than `_READ_LENGTH`, so that they take little memory."""
_FEW_MASKS = 100
"""So many are made again each time, rather than written."""
_MASKS: dict[str, str] = {}

_SLOT = re.compile(r"[\w.-]{1,80}@[\w.@-]{1,160}")
_URL = re.compile(
    r"\b([A-Za-z][A-Za-z0-9+.-]{0,20})://(?:([^\s/|'\"<>()]{1,255})|(?=/[^\s/|'\"<>()]))"
    r"([^\s|'\"<>()]{0,800})"
)
"""Scheme, host (none in ``osdf:///lab/a``), path."""
_OF_TRANSFER = re.compile(r"URL file = (?=[A-Za-z])")
_SINFUL = re.compile(r"<(?:\[[0-9a-fA-F:.]{2,45}\]|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?[^<>\s]*>")
_QUOTED = re.compile(r"'([^']{1,400})'|\"([^\"]{1,400})\"")
_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\[[0-9a-fA-F:]{4,45}\](?::\d{1,5})?"
)
_PATH = re.compile(r"(?<![\w<])[\w.~+-]{0,80}/[^\s,;:|()'\"<>]{1,800}")
_DOTTED = re.compile(r"\b[\w-]{1,64}(?:\.[\w-]{1,64}){1,12}\b")
_ARGUMENTS = re.compile(r"with arguments .{0,600}?(?=: )")
_ACCESS_POINT = re.compile(r"\baccess point [\w.-]{1,255}(?<!\.)")
_USER = re.compile(r"\(by user [^)]{1,100}\)")
_SITE_NAMED = re.compile(r"(?i)\b((?:glidein_)?site:) [\w.-]{1,100}")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_FIGURE = re.compile(
    r"(\b(?i:code|errno|signal|status|subcode)[ :=]{1,2}\d{1,3}(?!\d))"
    r"|\b(?=[0-9a-fA-F-]{0,40}\d)[0-9a-fA-F][0-9a-fA-F-]{7,40}\b"
    r"|\d+(?:\.\d+)?"
)
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\u00a0-\ud7ff\ue000-\uffff]+")
_BLANKS = re.compile(r" {2,}")


def mask(reason: str | None) -> str:
    """A reason without what differs from job to job: its cause, at most `MASK_LENGTH` long.

    URLs, slots, hosts, paths, names, arguments and users become ``<url>``, ``<slot>``, ``<host>``,
    ``<path>``, ``<name>``, ``<arguments>``, ``<user>``; the site and the transfer origin that the
    reason names become ``<site>`` and ``<origin>``; other digits become ``#``, but small numbers
    after *code*, *errno*, *signal* and *status*. None and blank texts give "".
    """
    text = (reason or "")[:_READ_LENGTH]
    found = _MASKS.get(text)
    if found is None:
        if len(_MASKS) >= _REMEMBERED:
            _MASKS.clear()
        found = _MASKS[text] = _mask(text)
    return found


@contextlib.contextmanager
def kept_masks() -> Iterator[None]:
    """Masks are known from the calls before this one, on this machine: each takes 0.1 ms to make.

    They are in ``~/.cache/jobsight`` (``XDG_CACHE_HOME``); nothing is lost with them.
    """
    cache = cache_folder()
    if cache is None:
        yield
        return
    # Of this state of the patterns.
    state = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
    file = Path(cache) / "masks" / f"{state}.json"
    with contextlib.suppress(OSError, msgspec.DecodeError):
        _MASKS.update(msgspec.json.decode(file.read_bytes(), type=dict[str, str]))
    known = len(_MASKS)
    yield
    if len(_MASKS) - known >= _FEW_MASKS:
        with contextlib.suppress(OSError, OutputError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with new_file(file) as place:
                place.write_bytes(msgspec.json.encode(_MASKS))


def _mask(reason: str) -> str:
    text = _clean(reason)
    slot = _SLOT.search(text)
    url = _URL.search(text)
    text = _URL.sub("<url>", text)
    text = _SINFUL.sub("<host>", text)
    text = _USER.sub("(by user <user>)", text)
    text = _SITE_NAMED.sub(r"\1 <site>", text)
    text = _SLOT.sub("<slot>", text)
    text = _replace_word(text, _middle(slot.group()) if slot else None, "<site>")
    text = _replace_word(text, url.group(2) if url else None, "<origin>")
    text = _ACCESS_POINT.sub("access point <host>", text)
    text = _ARGUMENTS.sub("with arguments <arguments>", text)
    text = _QUOTED.sub(_mask_quoted, text)
    text = _ADDRESS.sub("<host>", text)
    text = _PATH.sub("<path>", text)
    text = _DOTTED.sub(lambda m: m[0] if _NUMBER.fullmatch(m[0]) else "<name>", text)
    text = _FIGURE.sub(lambda m: m[1] or "#", text)
    return _BLANKS.sub(" ", text)[:MASK_LENGTH].strip(" |\t.")


def _clean(reason: str | None) -> str:
    return _UNPRINTABLE.sub(" ", (reason or "")[:_READ_LENGTH]).strip()


def _replace_word(text: str, word: str | None, by: str) -> str:
    if not word or len(word) < 3:
        return text
    return re.sub(rf"(?i)(?<![\w<]){re.escape(word)}(?![\w>])", by, text)


def _mask_quoted(found: re.Match[str]) -> str:
    """Names in quotes are masked; phrases (``'No such file or directory'``) are the cause."""
    inner = found[1] or found[2]
    if " " not in inner or "/" in inner:
        return "<name>"
    return found[0]


def over_unique(column: pl.Series, function: Callable[[str], str | None]) -> pl.Series:
    """`function` of each text, computed once for each different one; null stays null."""
    unique = column.drop_nulls().unique()
    answers = pl.Series([function(text) for text in unique], dtype=pl.String)
    if not len(unique):
        return pl.Series(column.name, [None] * len(column), dtype=pl.String)
    return column.replace_strict(unique, answers, default=None, return_dtype=pl.String)


def masked(reasons: pl.Series) -> pl.Series:
    """`mask` of each reason: strings (n,), "" where there is none."""
    return over_unique(reasons, mask).fill_null("")


def origin(reason: str | None) -> str | None:
    """Where a transfer came from or went to; None where the reason does not say.

    Of the URL of the transfer (*URL file =*), else of the first: ``scheme://host``; without a host
    the federation's scheme and the first part of the path, its namespace (``osdf:///lab``). Else
    the host after *SHADOW at* or *access point*. Lower case, without port and credentials.
    """
    return _origin((reason or "")[:_READ_LENGTH])


@lru_cache(_REMEMBERED)
def _origin(reason: str) -> str | None:
    text = _clean(reason)
    transfer = _OF_TRANSFER.search(text)
    url = _URL.search(text, transfer.end() if transfer else 0)
    if url:
        host = (url[2] or "").rpartition("@")[2].split(":")[0]
        if host or url[1].lower() == "file":  # which is of no server
            return f"{url[1]}://{host}".lower() if host else None
        return f"{url[1]}:///{url[3].split('/')[1]}".lower()
    place = re.search(r"(?:SHADOW at|to access point) <?([\w.-]{1,255})", text)
    return place[1].rstrip(".").lower() if place else None


def origins(reasons: pl.Series) -> pl.Series:
    """`origin` of each reason: strings (n,), null where none is named."""
    return over_unique(reasons, origin)


def site(text: str | None, attributes: str | None = None) -> str | None:
    """The site a job ran at, in lower case; None where unknown.

    Args:
        text: a slot name, a host, a daemon's address or a reason that names one.
        attributes: the JSON of a 028; its ``MATCH_EXP_JOBGLIDEIN_Site``, ``JOBGLIDEIN_Site`` or
            ``MATCH_GLIDEIN_Site`` (glideinWMS) precede the text.
    """
    return _site_of_attributes(attributes) or _site_of_text(_clean(text))


def sites(attributes: pl.Series, *texts: pl.Series) -> pl.Series:
    """`site` of each row, by the first of its texts that names one: strings (n,), or null."""
    named = attributes.str.contains("GLIDEIN_Site", literal=True)
    found = over_unique(attributes.set(~named.fill_null(value=False), None), _site_of_attributes)
    for column in texts:
        found = found.fill_null(over_unique(column, lambda text: _site_of_text(_clean(text))))
    return found


_SITE_ATTRIBUTES = ("MATCH_EXP_JOBGLIDEIN_Site", "JOBGLIDEIN_Site", "MATCH_GLIDEIN_Site")


def _site_of_attributes(attributes: str | None) -> str | None:
    if not attributes or "GLIDEIN_Site" not in attributes:
        return None
    ad = parse_ad(attributes) or {}
    for name in _SITE_ATTRIBUTES:
        value = ad.get(name)
        # An unevaluated $$() means the job has not matched yet.
        if isinstance(value, str) and value and "$$" not in value:
            return value[:100].lower()
    return None


def _site_of_text(text: str) -> str | None:
    slot = _SLOT.search(text)
    if slot:
        return _middle(slot.group()) or _domain(slot.group().rpartition("@")[2])
    named = re.search(r"[?&]alias=([\w.-]{1,255})|^Error from ([\w.-]{1,255}): ", text)
    if named:
        return _domain(named[1] or named[2])
    return _domain(text) if re.fullmatch(r"[\w.-]{1,255}", text) else None


def _middle(slot: str) -> str | None:
    """The part between the first and the second @: ``mwt2`` of ``slot1_3@mwt2@vm``."""
    parts = slot.split("@")
    # A glidein's own number says nothing of where it runs.
    if len(parts) < 3 or not parts[1] or re.match(r"(?i)glidein[_\d]", parts[1]):
        return None
    return parts[1].lower()


def _domain(host: str) -> str | None:
    """``chtc.wisc.edu`` of ``e2018.chtc.wisc.edu``; None for addresses and undotted names."""
    _, dot, domain = host.strip(".").lower().partition(".")
    return domain if dot and not re.fullmatch(r"[\d.]+", domain) else None


_EXIT_CODE = re.compile(
    r"(?i)\bexit(?:ed|s)?\b(?: with)?(?: an?)? (?:code|status|value)[ =:]{1,3}(-?\d{1,10})\b"
)
_EXIT_SIGNAL = re.compile(
    r"(?i)\b(?:exit\w{0,3}|killed|died|terminated|termination) ?(?:with|by|on|\() ?signal[ =:]{1,3}"
    r"(\d{1,2})\b"
)


def exit_named(reason: str | None) -> tuple[int | None, int | None]:
    """The exit code and the signal that a reason says the program ended with, each or None."""
    text = _clean(reason)
    code, signal = _EXIT_CODE.search(text), _EXIT_SIGNAL.search(text)
    return int(code[1]) if code else None, int(signal[1]) if signal else None


_UNIT = r"(?: ?((?:kilo|mega|giga|tera|[KMGT])?i?b(?:ytes?)?|[KMGT]i?)\b)?"
_AMOUNT = rf"(\d{{1,15}}(?:\.\d{{1,6}})?)(?![\d.]*\d| ?(?:%|percent|times)){_UNIT}"
_NAMED_UNIT = _UNIT.removesuffix("?")
_USED = (
    rf"(?i)(?:(?:peak|measured) usage:?|{{0}} usage:?(?: of)?|using|used) {_AMOUNT}"
    rf"|(\d{{1,15}}(?:\.\d{{1,6}})?){_NAMED_UNIT} used\b"
)
_LIMIT = (
    rf"(?i)(?:request_?{{0}}(?: of)?|requested {{0}}:?|limit(?: of|:)?|{{0}} of|"
    rf"exceed\w*(?: the| its)?(?: limit| request\w*| allow\w*)?(?: of)?) {_AMOUNT}"
    rf"|(\d{{1,15}}(?:\.\d{{1,6}})?){_NAMED_UNIT} (?:requested|allowed)\b"
)
_ALSO = {"memory": r"|\brss\b"}
_BYTES = {"b": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30, "t": 2.0**40}
_LEAST_SHARE, _MOST_TIMES = 0.5, 32.0
"""A number without a unit is in KB or MB, as the log's own figures are, if that makes it at least
this share of the largest amount known of the job, and at most so many times it; one alone does."""


def amounts_named(
    reason: str | None, what: str, known: Iterable[float] = ()
) -> tuple[float | None, float | None]:
    """The amounts used, at the peak or at the hold, and allowed that a reason names; each or None.

    In bytes, of powers of 2 as HTCondor counts, of `what` (``memory`` or ``disk``); a reason that
    does not name that gives none. Policies write numbers without a unit: of those a number counts
    only where amounts known of the job (bytes) show its unit.
    """
    text = _clean(reason)
    if not re.search(rf"(?i){what}{_ALSO.get(what, '')}", text):
        return None, None
    found = [pattern.search(text) for pattern in _amount_patterns(what)]
    named = [_bytes(match) for match in found]
    most = max((*known, *filter(None, named)), default=0.0)
    used, limit = (
        _explained(match, most) if size is None else size
        for match, size in zip(found, named, strict=True)
    )
    return used, limit


def bare_number(reason: str | None, what: str) -> str | None:
    """The number without a unit that a reason gives for what was used, as written; None: none."""
    found = _amount_patterns(what)[0].search(_clean(reason))
    return found[1] if found and found[1] and not found[2] else None


@lru_cache
def _amount_patterns(what: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(_USED.replace("{0}", what)), re.compile(_LIMIT.replace("{0}", what))


def _bytes(found: re.Match[str] | None) -> float | None:
    """The bytes of an amount with its unit."""
    unit = found and (found[2] or found[4])
    return float(found[1] or found[3]) * _BYTES[unit[0].lower()] if found and unit else None


def _explained(found: re.Match[str] | None, known: float) -> float | None:
    """The bytes of a number without a unit, by the largest amount known."""
    sizes = (float(found[1] or found[3]) * _BYTES[unit] for unit in "km") if found else ()
    return next((s for s in sizes if _LEAST_SHARE * known <= s <= _MOST_TIMES * known > 0), None)
