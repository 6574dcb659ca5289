"""The questions, one package each, and the tables that alone name them."""

from jobsight.answering.question import ANSWERABLES, answerable_named
from jobsight.learning.asked import QUESTIONS, question_named

__all__ = ["ANSWERABLES", "QUESTIONS", "answerable_named", "question_named"]

QUESTIONS["hold"] = "jobsight.questions.hold.question:HOLD"
QUESTIONS["fail"] = "jobsight.questions.fail.question:FAIL"
QUESTIONS["start"] = "jobsight.questions.start.question:START"
QUESTIONS["bound"] = "jobsight.questions.bound.question:BOUND_QUESTION"

ANSWERABLES["hold"] = "jobsight.questions.hold.answerable:HOLD_ANSWERS"
ANSWERABLES["fail"] = "jobsight.questions.fail.answering:FAIL_ANSWERS"
ANSWERABLES["start"] = "jobsight.questions.start.answering:START_ANSWERS"
ANSWERABLES["bound"] = "jobsight.questions.bound.answering:BOUND_ANSWERS"
