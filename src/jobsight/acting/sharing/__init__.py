"""Sharing nodes: tokens for what jobs use of a node together, and what sharing costs them."""
