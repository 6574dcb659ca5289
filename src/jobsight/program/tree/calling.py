"""Handlers of calls, commands of the shell, and what acts without being called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.shell.loops import is_endless
from jobsight.program.shell.servers import server_of
from jobsight.program.tree.context import LONG, Context
from jobsight.program.tree.expressions import evaluated
from jobsight.program.tree.names import called
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["on_call", "on_kernel", "on_lock", "on_loop"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_CALLEES = ("function", "name", "method", "macro", "subroutine", "constructor", "type")
_ON_DISK = frozenset({_E["database"], _E["commit"]})
_WORD = re.compile(r"\w+")
_DEFINED_BY_CALL = frozenset({"r", "julia"})
_SELF = frozenset({"self", "cls", "this"})
_DECLARES_OPTION = re.compile(r"(?:.*\.)?(?:add_argument|add_option|[oO]ption|Argument|add_arg)")
_OPTION_NAME = re.compile(r"(?<=\()\s*[\"'](\w+)[\"']|[\"'](--?[A-Za-z][\w-]*)[\"']")
_DEFAULT = re.compile(r"default(?:_value)?\s*=\s*[\"']?([^,()\"']+)")


def on_call(context: Context, node: Node, added: int, owner: int) -> bool:
    """A call: its full name, and what it does."""
    if context.grammar.language == "bash":
        return _command(context, node, added)
    name = _called_name(context, node)
    tree, values = context.tree, context.values
    head, dot, rest = name.partition(".")
    attribute, point, method = rest.partition(".")
    if head in _SELF and point and f"{head}.{attribute}" in values.aliases:
        head, rest = f"{head}.{attribute}", method
    if not name and not node.child_count:
        return context.drop(added)
    if context.grammar.brackets_call and not dot:
        if tree.role[added] == _R["target"]:
            values.arrays.add(name)
        if name in values.arrays:
            tree.kind[added] = _K["index"]
            return True
    if context.grammar.language in _DEFINED_BY_CALL and _defines(context, name, node, added, owner):
        return True
    if dot and head not in values.aliases and head in values.known.makers:
        maker, point, last = values.known.makers[head].partition(".")
        values.aliases[head] = f"{values.aliases.get(maker, maker)}{point}{last}()"
    full = values.aliases[head] + dot + rest if head in values.aliases else name
    if context.grammar.language == "fortran":
        full = full.lower()
    text = context.text(node)
    if context.grammar.language == "fortran":
        text = re.sub(r"\s", "", text)
    if context.names_gpu and values.texts:  # the device may be in a variable
        text += " " + " ".join(values.texts.get(one, "") for one in _WORD.findall(text))
    tree.calls[added] = full
    tree.effect[added] = context.effects.of(full, text, context.grammar.bare)
    if dot:
        values.method(added, name.rpartition(".")[0])
    if context.in_memory and tree.effect[added] in _ON_DISK:
        tree.effect[added] = _E["sort"]
    moved = tree.effect[added] == _E["gpu"] and full.endswith(".to")
    if moved and not context.names_gpu:  # the device is the CPU
        tree.effect[added] = _E["cheap"]
    if _DECLARES_OPTION.fullmatch(name):
        # An option of the command line: its default, unless that gives it a number
        values, default = context.values, _DEFAULT.search(text)
        names = [first or last for first, last in _OPTION_NAME.findall(text)]
        if names and not names[0].startswith("-"):
            value = values.known.positional(context.positions)
            context.positions += 1
        else:
            value = values.known.option(names)
        if value is None and default:
            value = evaluated(default[1], values.constants)
        if value is not None:
            values.constants |= {one.lstrip("-").replace("-", "_"): value for one in names}
    return True


def _command(context: Context, node: Node, added: int) -> bool:
    """A command of the shell, without what starts it, such as srun or time."""
    place = (node.start_point[0] + 1, node.start_point[1] + 1)
    command, name = context.commands.get(place), node.child_by_field_name("name")
    plain = context.text(name) if name is not None else ""
    server = None if command is None else server_of(command)
    words = [plain] if command is None else [one.value or one.text for one in command.words]
    plain = words[0].rpartition("/")[2] if words else plain
    last = next((one for one in words[1:] if re.fullmatch(r"[a-z][\w-]*", one)), "")
    text = " ".join(words)[:LONG] or context.text(node)
    tree, effects = context.tree, context.effects
    if command is not None:
        timed = any(one.name == "timeout" for one in command.launchers)
        tree.aside |= {added} if command.background or timed else set()
        tree.fed |= {added} if command.fed else set()
    effect = effects.of(f"{plain}.{last}", text, "") if last else _E["unknown"]
    tree.effect[added] = effect if effect != _E["unknown"] else effects.of(plain, text, "")
    tree.calls[added] = plain
    if server is not None:
        tree.calls[added], tree.effect[added] = server, _E["serve"]
    elif tree.effect[added] in (_E["serve"], _E["watch"]):
        tree.effect[added] = _E["launch"]  # in the background, or with a time limit
    return True


def on_loop(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A loop of the shell: whether its commands say that it has no end."""
    if context.grammar.language == "bash" and context.text(node, 7) == "select ":
        context.tree.endless[added] = ("select asks its user", True)
    if context.grammar.language == "bash" and is_endless(node):
        line, column = node.start_point[0] + 1, node.start_point[1] + 1
        within = (
            command for command in context.commands.values() for loop in command.loops
            if loop.place == (line, column) and not command.background
        )  # fmt: skip
        if any(not any(one.name == "timeout" for one in c.launchers) for c in within):
            context.tree.endless[added] = ("nothing ends this loop", False)
    return True


def _defines(context: Context, name: str, node: Node, added: int, owner: int) -> bool:
    """What has the form of a call, and is something else."""
    tree, language = context.tree, context.grammar.language
    if language == "r" and name in ("library", "require", "requireNamespace"):
        form = r"(?s).*?\(\s*[\"']?|[\"',)].*"
        tree.imports.append(re.sub(form, "", context.text(node)))
    elif language == "r" and name == "return":
        tree.kind[added] = _K["return"]
        return True
    elif language == "julia" and added == owner + 1:
        if tree.kind[owner] == _K["assign"]:  # f(x) = x + 1
            tree.kind[owner] = _K["function"]
            tree.functions[owner] = name
            context.own.add(name)
        if tree.kind[owner] == _K["function"]:
            tree.kind[added], tree.role[added] = _K["declare"], _R["parameter"]
            return True
    return False


def _called_name(context: Context, node: Node) -> str:
    fixed = context.grammar.calls.get(node.type)
    if fixed is not None:
        return fixed
    callee = next((c for one in _CALLEES if (c := node.child_by_field_name(one))), None)
    if callee is None and node.child_count:
        callee = node.child(0)
    if callee is None:
        return (
            context.text(node)
            if context.tree.role[context.tree.count - 1] in (0, _R["body"])
            else ""
        )
    if context.grammar.kinds[callee.kind_id] == _K["function"]:
        return ""
    outer = node.child_by_field_name("object") or node.child_by_field_name("invocant")
    around = node.parent
    if context.grammar.language == "matlab" and around is not None:
        member = around.type == "field_expression" and around.child(0) != node
        outer = around.child(0) if member else outer
    text = context.end_of(callee)
    if outer is not None:
        text = f"{context.end_of(outer)}.{text}"
    return called(text, context.grammar.language)


def on_kernel(context: Context, _node: Node, added: int, owner: int) -> bool:
    """The brackets that launch a kernel of CUDA."""
    context.tree.effect[owner] = _E["gpu"]
    return context.drop(added)


def on_lock(context: Context, _node: Node, added: int, _owner: int) -> bool:
    """A statement that holds a lock."""
    context.tree.effect[added] = _E["lock"]
    return True
