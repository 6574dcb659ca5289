"""Text for HTCondor: in submit descriptions, in lists of arguments, in lines of a DAG.

Sources: the manual page condor_submit(1) (``arguments``, ``environment``, "Using Macros") and the
manual's chapter on DAGMan (VARS). Each function takes plain text and gives what stands for it, so
that HTCondor arrives at the plain text again; the integration tests ask it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["environment_list", "macro_text", "vars_value", "word_list"]


def macro_text(text: str) -> str:
    """Text where submit expands macros: a ``$`` stays one.

    Two of them would be expanded when a machine is matched, and have a macro of that moment.
    """
    pairs = text.replace("$$", "\0")
    return pairs.replace("$", "$(DOLLAR)").replace("\0", "$$(DOLLARDOLLAR)")


def word_list(words: Iterable[str]) -> str:
    """Words as they stand between the double quotes of ``arguments``, macros escaped."""
    return " ".join(macro_text(_word(word)) for word in words)


def environment_list(variables: Mapping[str, str]) -> str:
    """Variables as they stand between the double quotes of ``environment``, macros escaped."""
    return " ".join(
        f"{name}={macro_text(_quoted(value))}" for name, value in sorted(variables.items())
    )


def vars_value(text: str) -> str:
    """A value of a VARS line, with its quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _word(word: str) -> str:
    plain = word.isalnum() or (word and all(c.isalnum() or c in "-_./:=+@%" for c in word))
    return word if plain else _quoted(word)


def _quoted(text: str) -> str:
    doubled = text.replace("'", "''").replace('"', '""')
    return f"'{doubled}'"
