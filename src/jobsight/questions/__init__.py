"""The questions, one package each, and the table that alone names them."""

from jobsight.learning.asked import QUESTIONS, question_named

__all__ = ["QUESTIONS", "question_named"]

QUESTIONS["hold"] = "jobsight.questions.hold.question:HOLD"
QUESTIONS["fail"] = "jobsight.questions.fail.question:FAIL"
QUESTIONS["start"] = "jobsight.questions.start.question:START"
QUESTIONS["bound"] = "jobsight.questions.bound.question:BOUND_QUESTION"
