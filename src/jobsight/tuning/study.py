"""The study of a sweep: an Optuna study in the sweep's folder, one trial per run.

Run `n` is trial `n` − 1. Points of a random search and of a grid are drawn when the sweep is
planned; methods that learn draw a run's point as it begins. ``study.log`` is a journal of JSON
lines, which several machines may write through a shared file system.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jobsight.errors import SweepError
from jobsight.runtime import install_command
from jobsight.tuning.config import LEARNING, SweepConfig
from jobsight.tuning.record import RunRecord
from jobsight.tuning.space import grid_of

if TYPE_CHECKING:
    from optuna import Study
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler
    from optuna.storages import JournalStorage
    from optuna.trial import FrozenTrial

__all__ = ["STUDY", "Runs", "create_study", "open_study", "points"]

STUDY = "study.log"
"""In the folder of the sweep."""
_NAME = "sweep"


def open_study(folder: Path) -> Study:
    """The study in a sweep's folder.

    Raises:
        SweepError: there is none, it is damaged, or Optuna is not installed.
    """
    return Runs.open(folder).study


def _storage(folder: Path) -> JournalStorage:
    try:
        import optuna
    except ModuleNotFoundError:
        raise SweepError(f"sweeps need Optuna: {install_command('sweep')}") from None
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path = str(folder.absolute() / STUDY)
    # This lock needs no fcntl(), which many shared file systems lack.
    return JournalStorage(JournalFileBackend(path, lock_obj=JournalFileOpenLock(path)))


def points(config: SweepConfig) -> Iterator[dict[str, Any]]:
    """The points that are known before anything ran; none where the method learns.

    The same config and seed give the same points, and more runs the same ones and more.
    """
    import optuna

    if config.method in LEARNING:
        return
    if config.method == "grid":
        names = [one.name for one in config.space]
        values = itertools.product(*map(grid_of, config.space))
        for chosen in itertools.islice(values, config.runs):
            yield dict(zip(names, chosen, strict=True))
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=config.seed))
    space = {one.name: one.drawn or one.distribution for one in config.space}
    for _ in range(config.runs):
        point = study.ask(space).params
        yield {
            one.name: one.snapped(point[one.name]) if one.drawn else point[one.name]
            for one in config.space
        }


def create_study(folder: Path, config: SweepConfig) -> None:
    """Make the study of a sweep, or add the trials that it lacks of its runs.

    Raises:
        SweepError: Optuna is not installed.
    """
    import optuna
    from optuna.trial import TrialState, create_trial

    study = optuna.create_study(
        study_name=_NAME,
        storage=_storage(folder),
        direction=config.metric.goal,
        load_if_exists=True,
    )
    there = len(study.get_trials(deepcopy=False))
    distributions = {one.name: one.distribution for one in config.space}
    for number, point in enumerate(points(config)):
        if number >= there:
            study.add_trial(
                create_trial(state=TrialState.WAITING, params=point, distributions=distributions)
            )
    for _ in range(config.runs if config.method in LEARNING else 0, there, -1):
        study.add_trial(create_trial(state=TrialState.WAITING))


class Runs:
    """The runs of a sweep as trials of its study; any number of processes may use it."""

    def __init__(self, storage: JournalStorage, study: Study) -> None:
        self._storage, self.study = storage, study
        self._id = storage.get_study_id_from_name(_NAME)

    @classmethod
    def open(cls, folder: Path, config: SweepConfig | None = None, run: int = 0) -> Runs:
        """The runs of a sweep's folder.

        Args:
            folder: of the sweep.
            config: of the sweep, for `ask` and `is_hopeless`.
            run: that will ask; it seeds the search.

        Raises:
            SweepError: there is no study, it is damaged, or Optuna is not installed.
        """
        import optuna

        path = folder / STUDY
        if not path.exists():
            raise SweepError(f"{folder} has no {STUDY}; plan the sweep")
        try:
            storage = _storage(folder)
            study = optuna.load_study(
                study_name=_NAME,
                storage=storage,
                sampler=None if config is None else _sampler(config, run),
                pruner=None if config is None else _pruner(config),
            )
            return cls(storage, study)
        except (KeyError, ValueError, OSError) as error:
            raise SweepError(
                f"{path} is damaged ({type(error).__name__}); put it back from a copy, or remove "
                "the folder and plan the sweep anew"
            ) from None

    def trials(self) -> list[FrozenTrial]:
        """All trials, in order of their runs."""
        return self.study.get_trials(deepcopy=False)

    def unfinished(self) -> list[int]:
        """The runs that have not ended."""
        return [one.number + 1 for one in self.trials() if not one.state.is_finished()]

    def ask(self, run: int, config: SweepConfig) -> dict[str, Any]:
        """The point of a run, which the sampler chooses where it has none yet."""
        from optuna.distributions import CategoricalDistribution, IntDistribution
        from optuna.trial import Trial, TrialState

        trial_id = self._storage.get_trial_id_from_study_id_trial_number(self._id, run - 1)
        known = self._storage.get_trial(trial_id)
        if known.params:
            return dict(known.params)
        self._storage.set_trial_state_values(trial_id, TrialState.RUNNING)
        trial = Trial(self.study, trial_id)
        point: dict[str, Any] = {}
        for one in config.space:
            name, kind = one.name, one.distribution
            if isinstance(kind, CategoricalDistribution):
                point[name] = trial.suggest_categorical(name, kind.choices)
            elif isinstance(kind, IntDistribution):
                point[name] = trial.suggest_int(
                    name, kind.low, kind.high, step=kind.step, log=kind.log
                )
            else:
                low, high, step = kind.low, kind.high, kind.step  # type: ignore[attr-defined]
                log = bool(kind.log)  # type: ignore[attr-defined]
                point[name] = trial.suggest_float(name, low, high, step=step, log=log)
        return point

    def bring_in(self, record: RunRecord) -> bool:
        """Add what a run recorded and the study lacks; whether the run has ended."""
        from optuna.exceptions import UpdateFinishedTrialError

        try:
            return self._bring_in(record)
        except UpdateFinishedTrialError:  # by another process at this moment
            return True

    def _bring_in(self, record: RunRecord) -> bool:
        from optuna.trial import TrialState

        trial_id = self._storage.get_trial_id_from_study_id_trial_number(self._id, record.run - 1)
        trial = self._storage.get_trial(trial_id)
        if trial.state.is_finished():
            return True
        if record.started is None:
            return False
        if trial.state is TrialState.WAITING:
            self._storage.set_trial_state_values(trial_id, TrialState.RUNNING)
        for epoch in record.epochs:
            value = epoch.metric
            if value is not None and epoch.epoch not in trial.intermediate_values:
                self._storage.set_trial_intermediate_value(trial_id, epoch.epoch, value)
        going = record.state == "running"
        for key, attribute in record.attributes().items():
            # What grows is written once, at the end.
            wanted = not going or key in ("run", "host", "started", "stopped")
            if wanted and trial.user_attrs.get(key) != attribute:
                self._storage.set_trial_user_attr(trial_id, key, attribute)
        if going:
            return False
        state = {"complete": TrialState.COMPLETE, "pruned": TrialState.PRUNED}.get(
            record.state, TrialState.FAIL
        )
        values = None if record.value is None or state is TrialState.FAIL else [record.value]
        self._storage.set_trial_state_values(trial_id, state, values)
        return True

    def is_hopeless(self, run: int) -> bool:
        """Whether the pruner would stop a run, by its epochs and those of the others."""
        trial = self.trials()[run - 1]
        return self.study.pruner.prune(self.study, trial)

    def best(self) -> FrozenTrial:
        """The run with the best value of the configured metric; of equal ones the first.

        Raises:
            SweepError: no run has one; says why.
        """
        from optuna.trial import TrialState

        trials = self.trials()
        ended = [one for one in trials if one.state.is_finished()]
        good = [one for one in ended if one.state is TrialState.COMPLETE]
        if good:
            sign = -1 if self.study.direction.name == "MINIMIZE" else 1
            return max(good, key=lambda one: sign * (one.value or 0.0))
        if not ended:
            raise SweepError(
                f"none of {len(trials)} runs has ended yet; see `jobsight sweep status`"
            )
        failed = next((one for one in ended if one.state is TrialState.FAIL), ended[0])
        raise SweepError(
            f"all runs that ended failed or were stopped as hopeless; run {failed.number + 1}: "
            f"{failed.user_attrs.get('error') or 'no cause recorded'}; widen the search space, or "
            "fix the settings, and name another `folder`"
        )


def _sampler(config: SweepConfig, run: int) -> BaseSampler:
    """What chooses points: seeded by run, so that a sampler need not be kept between runs."""
    from optuna import samplers

    seed = int(np.random.SeedSequence([config.seed, run]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some options are called experimental
        if config.method == "gp":
            try:
                return samplers.GPSampler(seed=seed)
            except ImportError:
                raise SweepError(f"method: gp needs PyTorch: {install_command('lstm')}") from None
        # Runs that are under way count as bad ones, or all would be in one place.
        return samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)


def _pruner(config: SweepConfig) -> BasePruner:
    """What stops hopeless runs."""
    from optuna import pruners

    stop = config.early_terminate
    if stop is None:
        return pruners.NopPruner()
    return pruners.SuccessiveHalvingPruner(min_resource=stop.first, reduction_factor=stop.eta)
