"""How we learn: splits, metrics, training, verification."""
