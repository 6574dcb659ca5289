"""A small random walker."""
