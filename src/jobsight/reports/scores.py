"""What reports call the scores of models."""

__all__ = ["HEADINGS"]

HEADINGS = {
    "roc_auc": "ROC AUC",
    "average_precision": "avg. prec.",
    "f1": "F1",
    "f1_failure": "F1 of failure",
    "brier": "Brier",
    "ece": "ECE",
    "log_loss": "log loss",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "pinball": "pinball loss",
    "median_error": "error of median",
    "coverage_80": "80 % coverage",
    "log10_mse": "log10 MSE",
    "within_2": "within 2",
    "within_3": "within 3",
    "width": "width",
    "divergence": "divergence",
    "distance": "distance",
}
"""Headings of metrics, by name."""
