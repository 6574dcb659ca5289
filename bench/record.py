"""A Markdown page of results in sections; each run replaces those that it measured."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path

__all__ = ["rewrite"]

_SECTION = re.compile(r"^## (.*)\n", re.MULTILINE)


def rewrite(
    page: Path, head: str, measured: Mapping[str, str], keep: Collection[str] | None = None
) -> None:
    """Put sections into a page: in the place of those of their titles, else at the end.

    Args:
        page: the file; it may not be there yet.
        head: what stands above all sections.
        measured: text by title.
        keep: titles of other sections that stay; None: all do.
    """
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    parts = _SECTION.split(before)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if keep is not None:
        sections = {title: text for title, text in sections.items() if title in keep}
    sections |= measured
    written = [f"## {title}\n\n{text.strip()}\n" for title, text in sections.items()]
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join([head.strip() + "\n", *written]), encoding="utf-8")
