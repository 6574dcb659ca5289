"""Pages of reports: HTML that is safe by construction, in one file, without links out.

Whatever comes from a log is hostile. So text and markup are different types here: `element` escapes
every child and every attribute that is not `Markup` already, and only this module makes `Markup`.
The page's content security policy forbids frames, every request, and all scripts but the one of
`page.js`, which sorts tables and is named there by its hash (https://www.w3.org/TR/CSP3/).
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

from jobsight.files import Kind
from jobsight.text import printable, visible

__all__ = [
    "Markup",
    "anchor",
    "card",
    "document",
    "element",
    "figure",
    "join",
    "report",
    "section",
    "table",
]

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'; img-src data:; "
    "base-uri 'none'"
)
_VOID = frozenset({"br", "col", "hr", "input", "meta"})


class Markup(str):
    """Text that is HTML already; everything else is escaped before it enters a page."""

    __slots__ = ()


Child = Markup | str | int | None


def _escaped(child: Child) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Markup) else html.escape(visible(str(child)))


def element(name: str, /, *children: Child, **attributes: object) -> Markup:
    """An element; children and attributes are escaped unless they are `Markup`; None is left out.

    Attribute names are written with ``_`` for ``-``, ``__`` for ``:``, ``class_`` for ``class``.
    """
    given = "".join(
        f' {key.rstrip("_").replace("__", ":").replace("_", "-")}="{html.escape(printable(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{''.join(map(_escaped, children))}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Markup:
    """Several children one after another."""
    return Markup(html.escape(between).join(map(_escaped, children)))


def anchor(title: str) -> str:
    """A title as the name that a link within the page uses."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def section(title: str, *children: Child, lead: Child = None) -> Markup:
    """A titled part of the page, with a sentence or two that say what it shows."""
    return element(
        "section",
        element("h2", title),
        None if lead is None else element("p", lead, class_="lead"),
        *children,
        id=anchor(title),
    )


def report(head: Child, parts: Mapping[str, Markup | None]) -> Markup:
    """A page's head, links to its parts, and those that there are (see `section`), by name."""
    present = {name: part for name, part in parts.items() if part is not None}
    ids = {name: part.partition(' id="')[2].partition('"')[0] for name, part in present.items()}
    links = [element("a", name, href=f"#{id_}") for name, id_ in ids.items()]
    return element(
        "main",
        head,
        element("nav", *links, aria_label="Parts of this report"),
        *present.values(),
        element("footer", "Made by Jobsight. This page asks no server."),
    )


def card(value: str, name: str, note: str) -> Markup:
    """A number that stands out, what it is, and a line on it."""
    return element(
        "div",
        element("span", value, class_="value"),
        element("span", name, class_="name"),
        element("span", note, class_="note"),
        class_="card",
    )


def figure(picture: Markup, caption: Child, *, class_: str | None = None) -> Markup:
    """A picture (SVG of `drawing.to_svg`) and what to see in it."""
    return element("figure", picture, element("figcaption", caption), class_=class_)


def table(
    headings: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    *,
    caption: str,
    text_columns: int | Sequence[int] = 1,
    marked: Sequence[int] = (),
) -> Markup:
    """A table whose rows a click on a heading sorts.

    On a narrow screen a table that ends in a column of text shows its cells one below another; any
    other keeps its columns and scrolls.

    The caption is read by screen readers too. `text_columns` (the first so many, or their numbers)
    hold text; the others hold numbers and stand to the right. Rows of the numbers `marked` are
    stressed.
    """
    texts = range(text_columns) if isinstance(text_columns, int) else text_columns
    kinds = [None if k in texts else "number" for k in range(len(headings))]
    stacked = len(headings) - 1 in texts
    labels = [None if isinstance(one, Markup) or not stacked else one or None for one in headings]
    head = join(
        element("th", cell, scope="col", class_=kind)
        for cell, kind in zip(headings, kinds, strict=True)
    )
    body = join(
        element(
            "tr",
            *(
                element("td", cell, class_=kind, data_label=label)
                for cell, kind, label in zip(row, kinds, labels, strict=True)
            ),
            class_="marked" if number in marked else None,
        )
        for number, row in enumerate(rows)
    )
    parts = element("caption", caption), element("thead", element("tr", head))
    shown = element("table", *parts, element("tbody", body))
    return element("div", shown, class_="table stacked" if stacked else "table")


def document(title: str, body: Iterable[Child], *, style: str = "") -> str:
    """The whole page: UTF-8 text that stands alone."""
    digest = hashlib.sha256(_resource("page.js").encode()).digest()
    policy = _POLICY.format(base64.b64encode(digest).decode())
    head = join(
        [
            element("meta", charset="utf-8"),
            element("meta", http_equiv="Content-Security-Policy", content=policy),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("meta", name="generator", content=Kind.REPORT.schema),
            element("meta", name="referrer", content="no-referrer"),
            element("title", title),
            # CSS and script are ours and hold nothing from outside.
            Markup(f"<style>{_resource('page.css')}{style}</style>"),
        ]
    )
    script = Markup(f"<script>{_resource('page.js')}</script>")
    page = element("html", element("head", head), element("body", *body, script), lang="en")
    return f"<!doctype html>\n{page}\n"


@cache
def _resource(name: str) -> str:
    return (resources.files("jobsight.reports") / name).read_text(encoding="utf-8")
