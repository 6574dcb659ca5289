"""Answers for held jobs: the decision, its evidence, what to mend, what to type."""
