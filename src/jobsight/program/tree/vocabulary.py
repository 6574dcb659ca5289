"""The words of the normalized tree: kinds of nodes, roles of nodes, effects of calls.

`VERSION` changes whenever a number changes its meaning, or a program gets another tree.
"""

from __future__ import annotations

from jobsight.text import wordlist

__all__ = ["EFFECTS", "EFFECT_NUMBERS", "KINDS", "KIND_NUMBERS", "ROLES", "ROLE_NUMBERS", "VERSION"]

VERSION = 5

KINDS = tuple(
    wordlist(
        "file function class loop branch case try handler call assign update declare "
        "arithmetic multiply divide bits compare logic index slice member pointer name "
        "number constant text pattern literal comprehension return raise break continue jump "
        "import await yield with parallel launch pipe redirect extent lock error"
    )
)
"""Kinds of nodes; a node's number is the position of its kind."""

ROLES = tuple(
    wordlist(
        "none body condition header target value callee object argument index alternative "
        "parameter type operand"
    )
)
"""What a node is to the node around it."""

EFFECTS = tuple(
    wordlist(
        # Not looked into, or of no weight.
        "none unknown own cheap arguments time convert print exit "
        # The processor.
        "math dense fft solve model sort hash compress text parse random compile encode "
        # Memory.
        "stream reduce gather copy allocate table "
        # Files.
        "open read write sync metadata map database commit "
        # The network.
        "connect fetch send request receive serve listen query transfer mpi "
        # Time that passes.
        "sleep wait lock queue prompt watch barrier "
        # Other programs and devices.
        "launch thread each gpu device"
    )
)
"""What a call does; see ``docs/develop/trees.md``."""

KIND_NUMBERS = {name: number for number, name in enumerate(KINDS)}
ROLE_NUMBERS = {name: number for number, name in enumerate(ROLES)}
EFFECT_NUMBERS = {name: number for number, name in enumerate(EFFECTS)}
