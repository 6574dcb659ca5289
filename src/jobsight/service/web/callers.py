"""Who asks: a name and a role, and what each role may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Caller", "Role"]

Role = Literal["user", "facilitator", "admin"]


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes:
        name: as schedulers name owners.
        role: a user sees jobs of that name; facilitators and admins all, admins also what concerns
            the service itself.
    """

    name: str
    role: Role

    @property
    def only(self) -> str | None:
        """The user whose jobs alone may be seen; None: those of all."""
        return self.name if self.role == "user" else None

    def sees(self, owner: str | None) -> bool:
        """Whether jobs of an owner may be seen; those without one by facilitators and admins."""
        return self.only is None or owner == self.name
