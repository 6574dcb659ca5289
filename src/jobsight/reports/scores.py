"""Which scores of a model reports show, in which order, and what they call them."""

__all__ = ["SCORES"]

SCORES = (
    ("roc_auc", "ROC AUC"),
    ("average_precision", "avg. prec."),
    ("f1", "F1"),
    ("f1_failure", "F1 of failure"),
    ("brier", "Brier"),
    ("ece", "ECE"),
    ("log_loss", "log loss"),
)
"""Name of the metric, and its heading."""
