"""Learning to answer: recipes, the parts of a history, models, choice, evaluation."""
