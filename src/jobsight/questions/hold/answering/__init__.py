"""Answers for held jobs: the decision, its evidence, what to fix, what to type."""
