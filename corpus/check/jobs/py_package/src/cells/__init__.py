"""Cellular automata."""

from .rules import Rule

__all__ = ["Rule"]
