"""What operators do: most are operations; some are calls, as ``a @ b`` and ``std::cout << a``.

So, too, an element of what is in a file, and what a ``with`` does where it ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.program.tree.context import Context
from jobsight.program.tree.names import called as called_name
from jobsight.program.tree.vocabulary import EFFECT_NUMBERS, KIND_NUMBERS, ROLE_NUMBERS

if TYPE_CHECKING:
    from tree_sitter import Node
__all__ = ["kind_of", "manager", "on_element", "on_operation", "on_parallel", "on_redirect"]

_K, _R, _E = KIND_NUMBERS, ROLE_NUMBERS, EFFECT_NUMBERS
_OPERATIONS = {
    operator: _K[kind]
    for kind, operators in (
        ("multiply", "* .* %*"),
        ("divide", "/ // % ./ %% %/% ** ^ .^ mod div ÷"),
        ("bits", "<< >> >>> ~ xor & |"),
        ("logic", "&& || and or ! not"),
        ("compare", "== != < > <= >= === ~= /= %in% in eq"),
        ("assign", "= <- <<- := -> ->>"),
    )
    for operator in operators.split()
}
_LOGICAL = {"perl": ("//",), "r": ("&", "|"), "matlab": ("&", "|")}
"""Operators that are logic in some languages."""
_DENSE = frozenset({"@", "%*%", "\\", "%o%"})
_PRINTS = re.compile(r"(?:std::)?(?:cout|cerr|clog)\b")
_ASKED = re.compile(r"(?:std::)?cin\b")


def kind_of(operator: str, language: str) -> int | None:
    """The kind of node that an operator makes; None: arithmetic."""
    if operator in _LOGICAL.get(language, ()):
        return _K["logic"]
    return _OPERATIONS.get(operator)


def on_operation(context: Context, node: Node, added: int, owner: int) -> bool:
    """An operation, which its operator makes an assignment, a comparison or a call."""
    tree, grammar = context.tree, context.grammar
    sign = node.child_by_field_name("operator") or node.child(1 if node.child_count > 2 else 0)
    operator = context.text(sign, 8) if sign is not None else ""
    context.values.operators[added] = operator
    tree.kind[added] = kind_of(operator, grammar.language) or tree.kind[added]
    called = None
    if operator in _DENSE:
        tree.effect[added], tree.calls[added] = _E["dense"], operator
    elif operator == "<-" and grammar.language == "go":
        source = re.search(r"(\w+)\.C\b", context.text(node))
        timer = source is not None and "Tick" in context.values.aliases.get(source[1], "")
        called = ("chan", "sleep" if timer else "queue")
    elif grammar.bare == "std" and operator == ">>":
        called = _taken(context, context.text(node))
    elif grammar.bare == "std" and operator == "<<" and tree.calls.get(owner) != "std.cout":
        called = ("std.cout", "print") if _PRINTS.match(context.text(node)) else None
    if called is not None:
        tree.kind[added], tree.effect[added] = _K["call"], _E[called[1]]
        tree.calls[added] = called[0]
    return True


def on_element(context: Context, node: Node, added: int, _owner: int) -> bool:
    """An element of what is in a file, as in ``h5py.File(name)["x"][0]``."""
    text = context.text(node, 120)
    head = re.split(r"\W", text, maxsplit=1)[0]
    alias = context.values.aliases.get(head)
    if alias is not None and ("()" in alias or "(" in text):
        _, dot, rest = called_name(text, context.grammar.language).partition(".")
        full = alias + dot + rest
        effect = context.effects.element(full)
        if effect != _E["unknown"]:
            written = effect == _E["read"] and context.tree.role[added] == _R["target"]
            context.tree.effect[added] = _E["write"] if written else effect
            context.tree.calls[added] = full
    return True


def manager(context: Context, added: int, name: str) -> None:
    """``with name:``, which may be a call, as of a database that commits at the end."""
    full = f"{context.values.aliases.get(name, '')}.__exit__"
    effect = context.effects.exact(full)
    if effect != _E["unknown"]:
        context.tree.effect[added], context.tree.calls[added] = effect, full


def on_parallel(context: Context, node: Node, added: int, _owner: int) -> bool:
    """A directive of OpenMP or OpenACC; other comments and pragmas are dropped."""
    text, tree = context.text(node, 160).lower(), context.tree
    if node.type not in ("comment", "preproc_call"):
        return True
    if not re.match(r"\s*(?:!\$|#\s*pragma\s+)(?:omp|acc)\b", text):
        tree.drop(added)
    elif "target" in text or "acc" in text[:16]:
        tree.effect[added] = _E["gpu"]
    elif "barrier" in text or "critical" in text:
        tree.effect[added] = _E["barrier"]
    return False


def on_redirect(context: Context, node: Node, added: int, _owner: int) -> bool:
    """What a redirection of the shell reads or writes."""
    text = context.text(node, 80)
    if "/dev/null" not in text and "&1" not in text and "&2" not in text:
        context.tree.effect[added] = _E["write"] if ">" in text else _E["read"]
    return True


def _taken(context: Context, text: str) -> tuple[str, str] | None:
    """What ``>>`` of C++ calls where it takes from a stream, not bits."""
    first = re.match(r"\w+", text)
    if _ASKED.match(text):
        return "std.cin", "prompt"
    streams = first is not None and "stream" in context.values.aliases.get(first[0], "")
    return ("std.istream", "parse") if streams else None
