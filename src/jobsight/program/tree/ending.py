"""Whether a program ends by itself: a job has an end, a server, a watcher or a dialogue has none.

Only what runs for certain in the foreground is judged: code that calls reach from the start, not
what is handed to threads, tasks or signal handlers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobsight.program.tree.normalized import Endless, Growing
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

__all__ = ["endless_parts"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_LEAVES = frozenset(_K[one] for one in ("return", "raise", "jump", "yield"))
_WITHIN = frozenset({_R["body"], 0, _R["alternative"]})
_SWITCHES = frozenset({"c", "cpp", "cuda", "java", "go"})
_TAKES_TEXT = frozenset({"python", "r", "matlab", "julia"})
"""Languages in which the text of a question is an argument of what reads the answer."""
_INTERRUPTS = ("KeyboardInterrupt", "InterruptedException", "Interrupt", "InterruptException")
_COUNTS = frozenset({"itertools.count", "itertools.repeat", "itertools.cycle", "time.Tick"})
_SIGNALS = frozenset(
    {"signal.signal", "signal", "sigaction", "std.signal", "signal.Notify", "addShutdownHook"}
)
_ASKS = re.compile(r"[:?>\])]\W*$|\b(?:enter|press|choose|type|input|select|guess|your)\b", re.I)
_ALWAYS_ASK = ("getpass", "cmdloop", "interact", "embed", "set_trace", "breakpoint")
_STOPS = (".shutdown", ".shutdownNow", ".stop", ".close", ".cancel", ".awaitTermination")
_MOST_LOOPS = 500


def endless_parts(tree: Growing) -> tuple[Endless, ...]:
    """What keeps a program from ending by itself, in the order of the text.

    Reading standard input where nothing asks for it becomes reading of a file.
    """
    found: dict[int, tuple[str, bool]] = {}
    parts = _Parts(tree)
    for node, (reason, server) in (*tree.endless.items(), *parts.loops(), *parts.calls()):
        if parts.runs(node):
            found.setdefault(node, (reason, server))
    return tuple(
        Endless(node, tree.files[tree.file[node]].name, tree.line[node], *found[node])
        for node in sorted(found)
    )


class _Parts:
    def __init__(self, tree: Growing) -> None:
        self.tree = tree
        self.timed = any("alarm" in name or name == "setitimer" for name in tree.calls.values())
        called = {part for one in tree.calls.values() for part in (one, one.rpartition(".")[2])}
        self.signals = not _SIGNALS.isdisjoint(called)
        self.started = self._started()

    def above(self, node: int) -> Iterator[int]:
        """The nodes that a node is in, from the inside."""
        while (node := self.tree.parent[node]) >= 0:
            yield node

    def function(self, node: int) -> int:
        """The named function that a node is in; -1: none."""
        return next((one for one in self.above(node) if one in self.tree.functions), -1)

    def _aside(self, node: int) -> bool:
        """Whether a node is handed to another thread or task, or waits in a nameless function."""
        tree = self.tree
        for one in self.above(node):
            if one in tree.functions:
                return False
            if tree.effect[one] == _E["thread"] or tree.kind[one] == _K["parallel"]:
                return True
            if tree.kind[one] == _K["function"] and tree.kind[tree.parent[one]] != _K["call"]:
                return True
        return False

    def _started(self) -> frozenset[int]:
        """Functions that run in the foreground; -1 for what is in none."""
        tree = self.tree
        by_name: dict[str, list[int]] = {}
        for node, name in tree.functions.items():
            by_name.setdefault(name, []).append(node)
        callers: dict[int, list[str]] = {}
        for node, name in tree.calls.items():
            last = name.rpartition(".")[2]
            if last in by_name and not self._aside(node):
                callers.setdefault(self.function(node), []).append(last)
        waiting = [-1, *by_name.get("main", ())]
        started = set(waiting)
        while waiting:
            for name in callers.get(waiting.pop(), ()):
                fresh = [one for one in by_name[name] if one not in started]
                started.update(fresh)
                waiting += fresh
        return frozenset(started)

    def runs(self, node: int) -> bool:
        """Whether a node runs in the foreground."""
        if self.function(node) not in self.started or self._aside(node):
            return False
        return self.tree.aside.isdisjoint((node, *self.above(node)))

    # Loops.

    def loops(self) -> Iterator[tuple[int, tuple[str, bool]]]:
        """Loops that nothing ends."""
        tree = self.tree
        nodes = [n for n in range(tree.count) if tree.kind[n] == _K["loop"]][:_MOST_LOOPS]
        for node in nodes:
            if tree.files[tree.file[node]].language == "bash" or self.timed:
                continue
            reason = self._endless(node)
            if reason and not self._caught(node) and not self._leaves(node):
                yield node, (reason, False)

    def _endless(self, loop: int) -> str | None:
        """Why a loop's own condition never ends it."""
        tree = self.tree
        within = _WITHIN - {0} if tree.files[tree.file[loop]].language == "go" else _WITHIN
        heads = [one for one in self._children(loop) if tree.role[one] not in within]
        if not heads:  # in Perl, a list of words is no node of the tree; `do concurrent` is another
            language = tree.files[tree.file[loop]].language
            kinds = {tree.kind[one] for one in self._children(loop)}
            concurrent = language == "fortran" and _K["parallel"] in kinds
            return None if language == "perl" or concurrent else "nothing ends this loop"
        if len(heads) == 1 and tree.role[heads[0]] != _R["value"]:
            one = heads[0]
            if tree.kind[one] in (_K["constant"], _K["number"]):
                return "nothing ends this loop" if tree.size[one] else None
            if self.signals and self._flag(loop, one):
                return "only a signal ends this loop"
        for node in range(heads[0], tree.end[heads[-1]]):
            name = tree.calls.get(node, "")
            whole = tree.parent[node] == loop or tree.kind[tree.parent[node]] == _K["assign"]
            if name in _COUNTS and whole:
                return "nothing ends this loop"
            if tree.effect[node] in (_E["listen"], _E["watch"]) and name:
                return f"it goes on for whatever {name.replace('()', '')} brings"
        return None

    def _flag(self, loop: int, condition: int) -> bool:
        """Whether a loop waits for a variable that nothing in it changes."""
        tree = self.tree
        names = {tree.names[n] for n in range(condition, tree.end[condition]) if n in tree.names}
        called = [n for n in range(condition, tree.end[condition]) if n in tree.calls]
        if len(names) + len(called) != 1 or any("is_set" not in tree.calls[n] for n in called):
            return False
        inside = range(tree.end[condition], tree.end[loop])
        return not any(
            tree.names.get(n) in names and tree.role[n] in (_R["target"], _R["argument"])
            for n in inside
        )

    def _children(self, node: int) -> list[int]:
        found, at = [], node + 1
        while at < self.tree.end[node]:
            found.append(at)
            at = self.tree.end[at]
        return found

    def _caught(self, loop: int) -> bool:
        """Whether an exception that its program expects may end it."""
        tree = self.tree
        for one in self.above(loop):
            if one in tree.functions:
                return False
            if tree.kind[one] == _K["try"]:
                handlers = [c for c in self._children(one) if tree.kind[c] == _K["handler"]]
                if any(not self._interrupt(handler) for handler in handlers):
                    return True
        return False

    def _interrupt(self, handler: int) -> bool:
        """Whether a handler is for the user's interrupt alone."""
        tree = self.tree
        texts = [tree.names.get(n, "") for n in range(handler, min(tree.end[handler], handler + 6))]
        texts.append(tree.texts.get(handler, ""))
        return any(one.endswith(_INTERRUPTS) for one in texts)

    def _leaves(self, loop: int) -> bool:
        """Whether anything in a loop leaves it."""
        tree, node = self.tree, loop + 1
        language = tree.files[tree.file[loop]].language
        switches = language in _SWITCHES
        rust = language == "rust" and tree.functions.get(self.function(loop)) == "main"
        while node < tree.end[loop]:
            kind = tree.kind[node]
            if kind == _K["function"] or (kind == _K["handler"] and self._interrupt(node)):
                node = tree.end[node]
                continue
            passes = kind == _K["raise"] and rust  # `?` leaves only where something fails
            if (kind in _LEAVES and not passes) or tree.effect[node] == _E["exit"]:
                return True
            if tree.calls.get(node) == "next":
                return True
            if kind == _K["break"] and self._breaks(node, loop, switches):
                return True
            node += 1
        return False

    def _breaks(self, node: int, loop: int, switches: bool) -> bool:
        """Whether a ``break`` leaves that loop: it is of no other, or it has a label."""
        tree = self.tree
        if tree.texts.get(node):
            return True
        for one in self.above(node):
            if tree.kind[one] == _K["loop"] or (switches and tree.kind[one] == _K["case"]):
                return one == loop
        return False

    # Calls.

    def calls(self) -> Iterator[tuple[int, tuple[str, bool]]]:
        """Servers, and questions to the user; in Go, what waits for nothing."""
        tree = self.tree
        for node in range(tree.count):
            empty = tree.kind[node] == _K["branch"] and tree.end[node] == node + 1
            if empty and tree.files[tree.file[node]].language == "go":
                yield node, ("select without cases blocks until it is killed", True)
        for node, name in tree.calls.items():
            if tree.effect[node] == _E["serve"] and not self._stopped(name):
                yield node, (f"{name.replace('()', '')} serves until it is killed", True)
            elif tree.effect[node] == _E["serve"] and ".schedule" in name:
                tree.effect[node] = _E["sleep"]
            elif tree.effect[node] == _E["prompt"]:
                if self._asks(node):
                    yield node, (f"{name.replace('()', '')} asks its user", True)
                else:
                    tree.effect[node] = _E["read"]

    def _stopped(self, name: str) -> bool:
        """Whether something else in the program stops the server."""
        head = name.rpartition(".")[0]
        own = (one for one in self.tree.calls.values() if one.rpartition(".")[0] == head)
        return bool(head) and any(one.endswith(_STOPS) for one in own)

    def _asks(self, node: int) -> bool:
        """Whether what reads standard input prompts a person, and does so whenever it runs."""
        tree = self.tree
        if not tree.fed.isdisjoint((node, *self.above(node))):
            return False
        child = node
        for one in self.above(node):
            if one in tree.functions:
                break
            aside = tree.kind[one] == _K["branch"] and tree.role[child] != _R["condition"]
            of_main = "__name__" in (tree.names.get(n) for n in range(one + 1, one + 4))
            aside = aside and not of_main
            if aside or tree.kind[one] == _K["handler"]:
                return False
            child = one
        language = tree.files[tree.file[node]].language
        if language == "bash" or tree.calls[node].endswith(_ALWAYS_ASK):
            return True
        inside = range(node + 1, tree.end[node])
        if language in _TAKES_TEXT and any(len(tree.texts.get(n, "")) > 2 for n in inside):
            return True
        if language == "python" and any(tree.kind[n] == _K["name"] for n in inside):
            return True
        before = range(max(node - 24, 0), node)
        return any(
            tree.kind[n] == _K["text"]
            and tree.line[node] - tree.line[n] <= 3
            and _ASKS.search(tree.texts.get(n, "").strip("\"'").replace("\\n", "").strip())
            for n in before
        )
