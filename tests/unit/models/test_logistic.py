import numpy as np
import pytest

from jobsight.models import logistic
from jobsight.models.base import Floats
from jobsight.models.logistic import fit_logistic, log_odds, sigmoid


def test_agrees_with_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    random = np.random.default_rng(0)
    columns = random.normal(size=(200, 3))
    success = random.random(200) < sigmoid(columns @ np.array([1.0, -2.0, 0.0]) + 0.5)
    weight = random.random(200)
    with_ones = np.concatenate([np.ones((200, 1)), columns], axis=1)
    beta = fit_logistic(with_ones, success, weight, np.array([0.0, 2.0, 2.0, 2.0]))
    reference = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000)
    reference.fit(columns, success, sample_weight=weight)
    assert beta[0] == pytest.approx(reference.intercept_[0], abs=1e-4)
    assert beta[1:] == pytest.approx(reference.coef_[0], abs=1e-4)


def test_separable_data_stay_finite() -> None:
    columns = np.array([[-1.0], [-2.0], [1.0], [2.0]])
    success = np.array([False, False, True, True])
    beta = fit_logistic(columns, success, np.ones(4), np.array([0.1]))
    assert np.isfinite(beta).all()
    assert beta[0] > 1.0


def test_the_penalty_draws_to_its_target() -> None:
    none = np.zeros((0, 2))
    target = np.array([1.0, 0.0])
    beta = fit_logistic(none, np.zeros(0, bool), np.zeros(0), np.ones(2), target=target)
    assert beta == pytest.approx(target)


def test_sigmoid_and_log_odds_are_inverse_and_never_overflow() -> None:
    margin = np.array([-800.0, -3.0, 0.0, 3.0, 800.0])
    assert sigmoid(margin)[[0, 2, 4]].tolist() == [0.0, 0.5, 1.0]
    assert log_odds(sigmoid(margin[1:4])) == pytest.approx(margin[1:4])
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_one_thread_sums_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

    def threads() -> list[int]:
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    seen: list[int] = []
    solve = np.linalg.solve

    def watched(hessian: Floats, gradient: Floats) -> Floats:
        seen.extend(threads())
        return np.asarray(solve(hessian, gradient), np.float64)

    monkeypatch.setattr(np.linalg, "solve", watched)
    logistic._thread_pools.cache_clear()  # other tests may have loaded more libraries since
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        fit_logistic(np.ones((4, 1)), np.arange(4) < 2, np.ones(4), np.array([0.1]))
        assert threads() == before
    assert set(seen) == {1}
