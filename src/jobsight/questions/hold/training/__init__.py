"""Learning to answer: the parts of a history, models, choice, evaluation."""
