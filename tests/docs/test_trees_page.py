"""docs/develop/trees.md shows the tree as it is: its examples, its words, its features."""

import re
from pathlib import Path

import pytest

from jobsight.program.tree import EFFECTS, FEATURES, GROUPS, KINDS, ROLES, Tree, read_text

PAGE = (Path(__file__).resolve().parents[2] / "docs/develop/trees.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```(\w+)\n(.*?)```\n\n```tree\n(.*?)```", PAGE, re.DOTALL)


def _outline(tree: Tree) -> str:
    lines = []
    for node in range(len(tree)):
        depth, around = 0, int(tree.parent[node])
        while around >= 0:
            depth, around = depth + 1, int(tree.parent[around])
        words = [KINDS[tree.kind[node]]]
        for names in (tree.calls, tree.functions, tree.names):
            words += [names[node]] if names.get(node) else []
        words += [f"→ {EFFECTS[tree.effect[node]]}"] if tree.effect[node] else []
        words += [f"2^{tree.size[node] - 1}"] if tree.size[node] else []
        lines.append("  " * depth + " ".join(words))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("language", "text", "shown"), EXAMPLES, ids=[e[0] for e in EXAMPLES])
def test_the_examples_give_the_trees_shown(language: str, text: str, shown: str) -> None:
    assert _outline(read_text(text, "example", language=language)) == shown


def test_the_page_lists_the_vocabulary() -> None:
    assert len(EXAMPLES) >= 4
    kinds, effects = PAGE.partition("## Kinds")[2].partition("## Effects")[::2]
    assert re.findall(r"^\| `(\w+)` \|", kinds, re.MULTILINE) == list(KINDS)
    groups = {effect: group for group, members in GROUPS.items() for effect in members}
    rows = re.findall(r"^\| `(\w+)` \|.*\| (\w*) ?\|$", effects, re.MULTILINE)
    assert rows == [(effect, groups.get(effect, "")) for effect in EFFECTS]
    assert all(f"`{role}`" in kinds for role in ROLES)


def test_the_page_lists_the_features() -> None:
    table = PAGE.partition("## Features")[2].partition("## Bounds")[0]
    listed = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", table, re.MULTILINE)
    plain = {name: meaning for name, meaning in listed if not name.rpartition(".")[2].isupper()}
    families = {name.partition(".")[0]: meaning for name, meaning in listed if name not in plain}
    for name, meaning in FEATURES.items():
        family, _, member = name.partition(".")
        if family in families:
            assert member in families[family] or member in GROUPS
        else:
            assert plain[name] == meaning
