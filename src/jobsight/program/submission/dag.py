"""DAG files of DAGMan.

Source: the HTCondor manual, "DAGMan Workflows", "The DAG input file": JOB, SUBDAG, SPLICE, SCRIPT,
PARENT … CHILD, and commands that name nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from jobsight.program.submission.job import Place, Problem
from jobsight.text import meant, wordset

__all__ = ["Dag", "DagNode", "cycle_of", "looks_like_dag", "read_dag"]

_NODES = frozenset({"JOB", "NODE", "DATA", "FINAL", "PROVISIONER", "SERVICE", "SUBDAG", "SPLICE"})
_NAMING = frozenset({"RETRY", "VARS", "PRIORITY", "CATEGORY", "ABORT-DAG-ON", "PRE_SKIP", "DONE"})
_OTHERS = wordset(
    "SCRIPT PARENT MAXJOBS CONFIG DOT NODE_STATUS_FILE REJECT INCLUDE SET_JOB_ATTR ENV "
    "JOBSTATE_LOG SUBMIT-DESCRIPTION CONNECT PIN_IN PIN_OUT SAVE_POINT_FILE SUBMIT_DESCRIPTION"
)
_MOST_NODES = 100_000


@dataclass(frozen=True)
class DagNode:
    """A node: its kind (JOB, SUBDAG, SPLICE …), file (None: described inline), folder, place."""

    kind: str
    file: str | None
    folder: str
    place: Place
    noop: bool = False


@dataclass
class Dag:
    """A DAG file.

    Attributes:
        nodes: by name.
        children: names of the children by the name of the parent.
        scripts: node, program, its place.
        included: files of INCLUDE.
        variables: node, the names that VARS sets for it, place.
        problems: what could not be taken.
    """

    nodes: dict[str, DagNode] = field(default_factory=dict)
    children: dict[str, list[tuple[str, Place]]] = field(default_factory=dict)
    scripts: list[tuple[str, str, Place]] = field(default_factory=list)
    included: list[tuple[str, Place]] = field(default_factory=list)
    variables: list[tuple[str, set[str], Place]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    named: list[tuple[str, Place]] = field(default_factory=list)
    described: set[str] = field(default_factory=set)

    def refuse(self, place: Place, message: str, fix: str | None = None) -> None:
        """Note that DAGMan does not take a line."""
        self.problems.append(Problem(place, "syntax", message, fix))


def looks_like_dag(text: str) -> bool:
    """Whether a text is a DAG file: its first command makes a node or links some."""
    for line in text[:20_000].split("\n"):
        words = line.split()
        if words and not words[0].startswith("#"):
            return words[0].upper() in _NODES | _NAMING | _OTHERS and "=" not in words[:2]
    return False


def read_dag(text: str) -> Dag:
    """Read a DAG file."""
    dag = Dag()
    skip_to = None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if skip_to is not None:
            skip_to = None if words[:1] == [skip_to] else skip_to
            continue
        if not words or words[0].startswith("#"):
            continue
        place = Place(number, len(line) - len(line.lstrip()) + 1)
        skip_to = _inline_end(words)
        _command(dag, words[0].upper(), words, place)
        if len(dag.nodes) > _MOST_NODES:
            dag.refuse(place, f"more than {_MOST_NODES:,} nodes are not checked")
            break
    dag.problems += [
        Problem(place, "unknown", f"there is no node {name[:60]}", meant(name, dag.nodes))
        for name, place in dag.named
        if name.upper() != "ALL_NODES" and name not in dag.nodes and "+" not in name
    ]
    return dag


def _inline_end(words: list[str]) -> str | None:
    """What ends the description that begins in a line; None: none does."""
    if "{" in words:
        return "}"
    tag = next((word for word in words if word.startswith("@=")), None)
    return None if tag is None else f"@{tag[2:]}"


def _command(dag: Dag, word: str, words: list[str], place: Place) -> None:
    if word in _NODES:
        _node(dag, "JOB" if word == "NODE" else word, words, place)
    elif word == "PARENT":
        _links(dag, words, place)
    elif word == "SCRIPT":
        _script(dag, words, place)
    elif word in _NAMING:
        dag.named += [(one, place) for one in words[1:2]]
        if word == "RETRY":
            number = words[2] if len(words) > 2 else ""
            if not re.fullmatch(r"\d{1,9}|\$\(.*", number):
                dag.refuse(place, "RETRY needs a node and a number", "RETRY NODE 3")
        if word == "VARS" and len(words) > 2:
            given = set(re.findall(r"([\w.+]+)\s*=\s*\"", " ".join(words[2:]).lower()))
            dag.variables.append((words[1], given, place))
        if word == "VARS" and not re.search(r'="', " ".join(words[2:])) and "PREPEND" not in words:
            dag.refuse(place, 'VARS needs NAME="value"', 'VARS NODE name="value"')
    elif word == "INCLUDE" and len(words) > 1:
        dag.included.append((words[1], place))
    elif word.startswith("SUBMIT") and len(words) > 1:
        dag.described.add(words[1])
    elif word not in _OTHERS:
        near = meant(word, _NODES | _NAMING | _OTHERS)
        dag.refuse(place, f"{words[0][:40]} is not a command of DAGMan", near)


def _node(dag: Dag, word: str, words: list[str], place: Place) -> None:
    if word == "SUBDAG":
        words = words[1:]
    if len(words) < 3:
        dag.refuse(place, f"{word} needs a name and a file", f"{word} NAME FILE")
        return
    name = words[1]
    upper = [one.upper() for one in words]
    following = words[upper.index("DIR") + 1 :] if "DIR" in upper[3:] else []
    folder = next(iter(following), "")
    inline = words[2].startswith(("{", "@="))
    if name in dag.nodes:
        line = dag.nodes[name].place.line
        dag.refuse(place, f"node {name[:60]} is already defined in line {line}")
        return
    if name.upper() in ("PARENT", "CHILD", "ALL_NODES"):
        dag.refuse(place, f"a node may not be named {name}")
    dag.nodes[name] = DagNode(word, None if inline else words[2], folder, place, "NOOP" in upper)


def _links(dag: Dag, words: list[str], place: Place) -> None:
    upper = [one.upper() for one in words]
    if "CHILD" not in upper:
        dag.refuse(place, "PARENT without CHILD", "PARENT a CHILD b")
        return
    at = upper.index("CHILD")
    parents, children = words[1:at], words[at + 1 :]
    if not parents or not children:
        dag.refuse(place, "PARENT and CHILD need nodes", "PARENT a CHILD b")
    dag.named += [(one, place) for one in (*parents, *children)]
    for one in parents:
        dag.children.setdefault(one, []).extend((child, place) for child in children)


def _script(dag: Dag, words: list[str], place: Place) -> None:
    rest = words[1:]
    if rest[:1] and rest[0].upper() == "DEFER":
        rest = rest[3:]
    if rest[:1] and rest[0].upper() == "DEBUG":
        rest = rest[3:]
    if len(rest) < 3 or rest[0].upper() not in ("PRE", "POST", "HOLD"):
        dag.refuse(place, "SCRIPT needs PRE or POST, a node, a program", "SCRIPT PRE NODE PROGRAM")
        return
    dag.named.append((rest[1], place))
    dag.scripts.append((rest[1], rest[2], place))


def cycle_of(dag: Dag) -> tuple[list[str], Place] | None:
    """Nodes that wait for each other, and the place of a link among them; None: there are none."""
    seen: set[str] = set()
    for start in dag.children:
        path = {start: iter(dag.children[start])} if start not in seen else {}
        while path:
            name, rest = next(reversed(path.items()))
            seen.add(name)
            child, place = next(rest, (None, None))
            if child is None or place is None:
                del path[name]
            elif child in path:
                names = [*path, child]
                return names[names.index(child) :], place
            elif child not in seen:
                path[child] = iter(dag.children.get(child, []))
    return None
