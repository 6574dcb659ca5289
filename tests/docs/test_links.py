"""Links of the documentation lead to pages and headings that are there; the site has every page."""

import re
import unicodedata
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("*.md"))]
FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1$", re.M | re.S)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return FENCED.sub("", page.read_text(encoding="utf-8"))


@cache
def anchors(page: Path) -> list[str]:
    """What links can name in a page: the headings, as Python-Markdown and GitHub name them."""
    named = []
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.replace("`", ""))
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        named.append(re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if "://" in link:
            continue
        to = (page.parent / target).resolve() if target else page
        inside = DOCS not in page.parents or DOCS in to.parents  # the site has nothing else
        there = to.exists() and inside and (not anchor or anchor in anchors(to))
        broken += [] if there else [link]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_list_begins_after_a_blank_line(page: Path) -> None:
    """Markdown of the site takes it for a part of the paragraph otherwise."""
    listed = re.compile(r"^(?!\s|[-*#>|]|\d+\. )[^\n]+\n(?=[-*] |\d+\. )", re.M)
    paragraphs = re.split(r"\n\s*\n", prose(page))
    wrong = [
        part for part in paragraphs if listed.search(part) and not re.match(r"[-*] |\d+\. ", part)
    ]
    assert wrong == []


def test_the_site_has_every_page() -> None:
    def paths(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        assert not isinstance(inner, str | int | float | None)
        return [path for one in inner for path in paths(one)]  # type: ignore[attr-defined]

    navigation = YAML(typ="safe").load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    shown = paths(navigation)
    assert sorted(shown) == [str(page.relative_to(DOCS)) for page in sorted(DOCS.rglob("*.md"))]


def test_guides_have_no_dated_results() -> None:
    guides = [*DOCS.glob("*.md"), *(DOCS / "admin").glob("*.md")]
    dated = re.compile(
        r"left out, since|[Mm]easured on 20\d\d|\b(?:on|of) 20\d\d-\d\d-\d\d\b|\(20\d\d-\d\d-\d\d"
    )
    assert [page.name for page in guides if dated.search(prose(page))] == []
