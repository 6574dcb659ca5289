"""Box-shaped transit fits."""
__version__ = "0.3"
