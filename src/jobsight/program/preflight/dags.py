"""JS42x: DAG files of DAGMan."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from jobsight.program.machine import Machine
from jobsight.program.preflight.condor import GIVEN_MACROS
from jobsight.program.preflight.condorfiles import written_by
from jobsight.program.preflight.condorjob import CondorJob
from jobsight.program.preflight.files import near
from jobsight.program.preflight.findings import Hit, hit, reported, rule
from jobsight.program.submission.dag import Dag, DagNode, cycle_of, read_dag

__all__ = ["DagJob"]

_MOST_ORDERED, _DEEPEST = 1000, 4
_NODE = "=== a.sub\nexecutable = /bin/echo\nqueue\n"


@dataclass
class DagJob:
    """A DAG file that is checked; files in it are relative to the folder of the submission."""

    text: str
    folder: str
    machine: Machine
    around: tuple[str, ...] = ()
    """Paths of the DAGs that it is in, and its own."""
    behind: bool = False
    """Whether something runs before it, in those."""

    @cached_property
    def dag(self) -> Dag:
        """Its nodes and links."""
        return read_dag(self.text)

    def place_of(self, name: str, folder: str = "") -> str:
        """The absolute path of a file that is named."""
        return self.machine.resolve(os.path.normpath(os.path.join(self.folder, folder, name)))  # noqa: PTH118

    def missing(self, name: str, folder: str = "") -> bool:
        """Whether a file surely is not there."""
        path = self.place_of(name, folder)
        if "$" in name or "$" in folder or self.machine.exists(path):
            return False
        return path.startswith(f"{self.folder}/") or self.machine.visible(path)

    @cached_property
    def followers(self) -> frozenset[str]:
        """Nodes before which something runs: other nodes, or a script of their own."""
        after = {child for some in self.dag.children.values() for child, _ in some}
        own = {node for node, *_ in self.dag.scripts}
        last = {name for name, node in self.dag.nodes.items() if node.kind == "FINAL"}
        lost = self.dag.nodes.keys() if self.dag.problems else ()  # links may be among them
        return frozenset(after | own | last | set(lost))

    @cached_property
    def users(self) -> dict[str | None, list[str]]:
        """The nodes of each submit file, by its name."""
        found: dict[str | None, list[str]] = {}
        for name, node in self.dag.nodes.items():
            found.setdefault(node.file, []).append(name)
        return found

    @cached_property
    def _parents(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for parent, some in self.dag.children.items():
            for child, _ in some:
                found.setdefault(child, []).append(parent)
        return found

    def ancestors(self, name: str) -> set[str]:
        """The nodes that end before a node begins."""
        found, waiting = set[str](), [name]
        while waiting:
            more = set(self._parents.get(waiting.pop(), ())) - found
            found |= more
            waiting += more
        return found

    def _submit_text(self, name: str) -> str | None:
        """The submit file of a node that is a job in the folder of the DAG."""
        node = self.dag.nodes.get(name)
        plain = node is not None and node.kind == "JOB" and not node.folder
        return self.machine.text(self.place_of(node.file or "")) if node and plain else None

    def listed(self, name: str, command: str) -> set[str] | None:
        """The files in a command of a node's submit file; None: they are not known."""
        text = self._submit_text(name)
        found = re.search(rf"(?im)^[ \t]*{command}\s*=(.*)$", text or "")
        if found is None or "$" in found[1] or re.search(r"(?i)_remaps|initial_?dir", text or ""):
            return None
        names = (one.strip().strip('"').rstrip("/") for one in found[1].split(","))
        back = command == "transfer_output_files"  # files come back without their folders
        return {one.rpartition("/")[2] if back else one for one in names} - {""}

    def made_for(self, names: Sequence[str]) -> frozenset[str] | bool:
        """What nodes are given by those before them: names of files, or whether there may be some.

        It is known where one node of a submit file follows nodes that list what they transfer back.
        """
        if self.behind or not any(name in self.followers for name in names):
            return self.behind
        odd = self.dag.scripts or self.dag.problems or self.dag.included or len(names) != 1
        before = self.ancestors(names[0])
        back = [self._given_back(one) for one in before]
        if odd or not back or None in back:
            return True
        own = self.dag.nodes[names[0]].folder or "."
        return frozenset(
            os.path.relpath(os.path.join(self.dag.nodes[node].folder, one), own)  # noqa: PTH118
            for node, given in zip(before, back, strict=True)
            for one in (*(given or ()), *self._printed(node))
        )

    def _printed(self, name: str) -> set[str]:
        """The file that a node prints into, with ``{}`` for variables."""
        found = re.findall(r"(?im)^[ \t]*output\s*=\s*(\S+)\s*$", self._submit_text(name) or "")
        return {re.sub(r"\$\([^()]*\)", "{}", one) for one in found}

    def _given_back(self, name: str) -> set[str] | None:
        """The files that a node transfers back, with ``{}`` for what is not known of their names.

        Without a list these are the new files of its folder, as far as its script names them all.
        """
        text = self._submit_text(name)
        listed = self.listed(name, "transfer_output_files")
        odd = r"(?im)^[ \t]*(?:transfer_output_|initial_?dir|include\b|use\b)"
        if listed is not None or text is None or re.search(odd, text):
            return listed
        path = self.place_of(self.dag.nodes[name].file or "")
        job = CondorJob(text, path, self.folder, self.machine, in_dag=True)
        scripts = [job.script(one) if job.transfers(one) else None for one in job.instances[:1]]
        written = [written_by(one) for one in scripts if one is not None and one.commands]
        return set(written[0]) if written and written[0] is not None else None

    def inner(self) -> Iterator[tuple[DagJob, str]]:
        """The DAGs of its nodes that are here, each file once, with their paths."""
        seen = set(self.around)
        for name, node in self.dag.nodes.items():
            path = self.place_of(node.file or "", node.folder)
            text = self.machine.text(path) if node.kind in ("SUBDAG", "SPLICE") else None
            if text is not None and path not in seen and len(self.around) < _DEEPEST:
                seen.add(path)
                folder = os.path.normpath(os.path.join(self.folder, node.folder))  # noqa: PTH118
                behind = self.behind or name in self.followers
                yield DagJob(text, folder, self.machine, (*self.around, path), behind), path

    def submit_files(self) -> Iterator[tuple[DagNode, str]]:
        """Nodes with the submit file that is here, each file once."""
        seen: set[str] = set()
        for node in self.dag.nodes.values():
            if node.kind not in ("SUBDAG", "SPLICE") and node.file is not None:
                path = self.place_of(node.file, node.folder)
                if path not in seen and self.machine.exists(path):
                    seen.add(path)
                    yield node, path


@rule("JS420 A file of a node is not there", kind="dag")
def _node_files(job: DagJob) -> Iterator[Hit]:
    """Submit files, inner DAGs, splices, included files; a script of the node may make its own.

    An inner DAG may also be made by the nodes before it.
    """
    made = {node for node, *_ in job.dag.scripts}
    for name, node in job.dag.nodes.items():
        if node.folder and job.missing(node.folder):
            yield hit(node, f"the folder {node.folder} of {name} is not there")
        elif (
            node.file
            and node.file not in job.dag.described
            and not node.noop
            and name not in made
            and job.missing(node.file, node.folder)
        ):
            other = near(job.place_of(node.file, node.folder))
            if other or node.kind != "SUBDAG" or name not in job.followers:
                yield hit(node, f"{node.file} of {name} is not there", other)
    for name, place in job.dag.included:
        if job.missing(name):
            yield hit(place, f"{name} is not there", near(job.place_of(name)))


@rule("JS421 Nodes wait for each other", kind="dag")
def _cycles(job: DagJob) -> Iterator[Hit]:
    """A cycle of PARENT and CHILD: DAGMan refuses it."""
    found = cycle_of(job.dag)
    if found is not None:
        yield hit(found[1], f"a cycle: {' → '.join(found[0])[:200]}")


@rule("JS422 A node that is not defined", kind="dag")
def _undefined(job: DagJob) -> Iterator[Hit]:
    """Names of nodes in PARENT, CHILD, VARS, RETRY, SCRIPT and others."""
    if job.dag.included or any(node.kind == "SPLICE" for node in job.dag.nodes.values()):
        return
    yield from reported(job.dag.problems, "unknown")


@rule("JS423 A line that DAGMan refuses", kind="dag")
def _syntax(job: DagJob) -> Iterator[Hit]:
    """Unknown commands, missing words, nodes defined twice."""
    yield from reported(job.dag.problems, "syntax")


@rule("JS425 A variable of a submit file that no VARS of its node sets", kind="dag")
def _variables(job: DagJob) -> Iterator[Hit]:
    """It becomes empty in this node."""
    of_all = (names for node, names, _ in job.dag.variables if node.upper() == "ALL_NODES")
    every = set().union(*of_all)
    if job.dag.included:
        return
    for name, node in job.dag.nodes.items():
        path = job.place_of(node.file or "", node.folder)
        submits = node.file and node.kind not in ("SUBDAG", "SPLICE")
        text = job.machine.text(path) if submits else None
        if text is None or re.search(r"^[ \t]*(?:include|use)\b", text, re.M | re.I):
            continue
        own = [(names, place) for other, names, place in job.dag.variables if other == name]
        given = every.union(*(names for names, _ in own)) | GIVEN_MACROS
        given |= {one.lower() for one in re.findall(r"^[ \t]*([\w.+]+)\s*=", text, re.M)}
        queued = re.findall(r"(?im)^[ \t]*queue\b(.*?)\b(?:from|in|matching)\b", text)
        given |= {one.lower() for names in queued for one in re.findall(r"\w+", names)}
        for macro in re.findall(r"(?m)^(?![ \t]*#).*?(?<!\$)\$\((\w+)\)", text):
            if macro.lower() not in given:
                place = own[0][1] if own else node.place
                yield hit(place, f"{name} gets no {macro}, which {node.file} uses")
                break


@rule("JS426 A node reads what a node makes that need not run before it", kind="dag")
def _unordered(job: DagJob) -> Iterator[Hit]:
    """DAGMan runs both at once, unless PARENT and CHILD say otherwise."""
    if job.dag.problems or job.dag.included or len(job.dag.nodes) > _MOST_ORDERED:
        return
    makers = {
        file: name for name in job.dag.nodes
        for file in job.listed(name, "transfer_output_files") or ()
    }  # fmt: skip
    links = {end: place for start, some in job.dag.children.items()
             for child, place in some for end in (start, child)}  # fmt: skip
    for name, node in job.dag.nodes.items():
        for file in job.listed(name, "transfer_input_files") or ():
            maker = makers.get(file, name)
            if maker != name and job.missing(file) and maker not in job.ancestors(name):
                message = f"{maker} makes {file} for {name}, and need not run before it"
                yield hit(links.get(name, node.place), message, f"PARENT {maker} CHILD {name}")


@rule("JS424 A script of a node cannot be run", kind="dag")
def _scripts(job: DagJob) -> Iterator[Hit]:
    """It is not there, or may not be executed: the node fails."""
    for node, name, place in job.dag.scripts:
        folder = job.dag.nodes[node].folder if node in job.dag.nodes else ""
        path = job.place_of(name, folder)
        if "/" not in name and job.machine.command(name):
            continue
        if job.missing(name, folder):
            yield hit(place, f"{name} is not there", near(path))
        elif job.machine.exists(path) and not job.machine.may(path, 1):
            yield hit(place, f"{name} may not be executed", f"chmod +x {name}")


_PARALLEL = re.compile(
    r"(?m)^(?![ \t]*#).*?(?:\bxargs\b.*\s-P\s*\S|\bmake\b.*\s-j|\b(?:mpirun|mpiexec)\s"
    r"|\bparallel\s+-)"
)


@rule(
    "JS427 A script of a node that computes in parallel where the DAG was submitted",
    severity="warning",
    kind="dag",
)
def _heavy_scripts(job: DagJob) -> Iterator[Hit]:
    """PRE and POST scripts run on the access point, which all users share."""
    for node, name, place in job.dag.scripts:
        folder = job.dag.nodes[node].folder if node in job.dag.nodes else ""
        if found := _PARALLEL.search(job.machine.text(job.place_of(name, folder)) or ""):
            shown = " ".join(found[0].split())[:40]
            yield hit(place, f"{name} computes on the access point: {shown}", "a node of its own")
