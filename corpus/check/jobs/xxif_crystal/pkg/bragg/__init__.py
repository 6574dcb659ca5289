from .angles import reflections

__all__ = ["reflections"]
