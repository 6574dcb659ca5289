"""Plans for the real DAGMan: a folder that the pool sees, and a small program for their nodes."""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.testbed import HtcondorPool
from tests.testbed.namespace import until

from jobsight.cluster import Node, Option, Plan, PlanStatus, Program, Resources, Stage
from jobsight.cluster.dagman import Dagman

SMALL = Resources(cpus=1, memory_mb=100, disk_mb=10)

PROGRAM = """
import json, os, signal, sys, time

def site():
    with open(os.environ["_CONDOR_MACHINE_AD"]) as ad:
        return dict(line.rstrip().split(" = ", 1) for line in ad).get("TestbedSite", "").strip('"')

def note(out, **told):
    with open(out + "/told", "a") as file:
        file.write(json.dumps(told) + "\\n")

def told(out):
    try:
        with open(out + "/told") as file:
            return [json.loads(line) for line in file]
    except FileNotFoundError:
        return []

verb, out, *more = sys.argv[1:]
if verb == "make":
    read = []
    for path in more:
        with open(path) as file:
            read.append(file.read())
    note(out, read=read, folder=os.getcwd(), greeting=os.environ.get("GREETING"))
elif verb == "say":
    note(out, words=more)
elif verb == "fail":  # so many times
    note(out, site=site())
    if len(told(out)) <= int(more[0]):
        print("first line\\nno luck at " + site(), file=sys.stderr)
        sys.exit(3)
elif verb == "need":
    note(out, site=site())
    if not os.path.exists(more[0]):
        sys.exit("there is no " + more[0])
elif verb == "lose":
    note(out, site=site())
    os.rename(out, "elsewhere")
elif verb == "train":  # epochs, seconds of one, epoch after which it leaves with 85
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    begun = max([line.get("epoch", 0) for line in told(out)], default=0)
    note(out, start=begun, site=site())
    for epoch in range(begun + 1, int(more[0]) + 1):
        end = time.monotonic() + float(more[1])
        while time.monotonic() < end:
            time.sleep(0.02)
            if stop:
                note(out, stopped=epoch)
                sys.exit(85)
        note(out, epoch=epoch)
        if epoch == int(more[2]):
            sys.exit(85)
    note(out, end=int(more[0]))
"""


@dataclass
class Work:
    """A folder in a pool, with the program, in which one plan is run."""

    pool: HtcondorPool
    folder: Path

    @classmethod
    def at(cls, pool: HtcondorPool, name: str) -> "Work":
        """A new folder of that name, whose files are alice's, as jobs are."""
        work = cls(pool, pool.folder / "work" / name)
        work.folder.mkdir()
        (work.folder / "program.py").write_text(PROGRAM)
        (work.folder / "submitted/nodes").mkdir(parents=True)
        return work

    def node(
        self, name: str, *arguments: str, inputs: tuple[str, ...] = (), retries: int = 0,
        checkpoints: bool = False, near: bool = False, resources: Resources = SMALL,
    ) -> Node:  # fmt: skip
        """A node whose first argument behind the verb is its output folder, made here."""
        (self.folder / arguments[1]).mkdir(parents=True, exist_ok=True)
        return Node(
            name, arguments, ("program.py", *inputs), (arguments[1],), resources, retries,
            checkpoints, near,
        )  # fmt: skip

    def plan(
        self, *stages: tuple[Node, ...], shared: bool = False,
        options: Mapping[str, Option] | None = None, program: Program | None = None,
    ) -> Plan:  # fmt: skip
        """A plan of these stages."""
        named = tuple(Stage(f"stage{number}", nodes) for number, nodes in enumerate(stages, 1))
        chosen: dict[str, Option] = {"release_after": "1", **(options or {})}
        given = program or Program(("python3", "program.py"))
        return Plan("work", self.folder, named, given, shared, {"dagman": chosen})

    def submit(self, plan: Plan) -> str:
        """Hand over; the id of the DAGMan job."""
        self.own()
        job = Dagman().submit(plan)
        self.own()
        return job

    def own(self) -> None:
        """Give all that is in the folder to alice."""
        uid, gid = self.pool.namespace.users["alice"]
        subprocess.run(["chown", "-R", f"{uid}:{gid}", str(self.folder)], check=True)

    def wait(self, plan: Plan, *, timeout: float = 90) -> PlanStatus:
        """Until DAGMan is gone; how the nodes fare then."""
        return self.until(plan, lambda status: not status.active, "to end", timeout=timeout)

    def until(
        self, plan: Plan, true: Callable[[PlanStatus], bool], what: str, *, timeout: float = 60
    ) -> PlanStatus:
        """Until something is true of the status; the status."""

        def ask() -> PlanStatus | None:
            status = Dagman().status(plan)
            return status if true(status) else None

        found = until(ask, f"the plan {what}", timeout=timeout, pause=0.3)
        assert found is not None
        return found

    def told(self, output: str) -> list[dict[str, object]]:
        """What a node's program noted in its output folder."""
        path = self.folder / output / "told"
        return [json.loads(line) for line in path.read_text().splitlines()]


def first_in_path(pool: HtcondorPool) -> str:
    """A PATH on which the pool's tools come first."""
    return os.pathsep.join([str(pool.bin), os.environ["PATH"]])


def states(status: PlanStatus) -> dict[str, str]:
    """Name -> state."""
    return {name: node.state.value for name, node in status.nodes.items()}
