"""Ranges of job ids, and the constraints that select them."""

import classad2
from hypothesis import given
from hypothesis import strategies as st

from jobsight.history.condor.jobsets import Job, constraints, ranges

JOBS = st.sets(st.tuples(st.integers(1, 6), st.integers(0, 9)))


def test_ranges_are_written_as_users_write_jobs() -> None:
    jobs = [(12, proc) for proc in range(400)] + [(13, 2), (13, 4)]
    assert list(map(str, ranges(jobs))) == ["12.0-399", "13.2", "13.4"]


@given(JOBS, st.integers(1, 4))
def test_constraints_are_true_of_these_jobs_alone(jobs: set[Job], most: int) -> None:
    parts = list(constraints(jobs, most))
    assert all(len(part) <= most for part, _ in parts)
    trees = [classad2.ExprTree(text) for _, text in parts]
    for job in ((cluster, proc) for cluster in range(1, 7) for proc in range(10)):
        ad = classad2.ClassAd({"ClusterId": job[0], "ProcId": job[1]})
        assert [tree.eval(ad) for tree in trees].count(True) == (job in jobs)
        assert not any(classad2.ExprTree(f"false && {text}").eval(ad) for _, text in parts)
