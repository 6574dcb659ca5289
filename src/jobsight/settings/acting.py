"""Settings of what acts through the schedulers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat, PositiveInt, field_validator, model_validator

from jobsight.settings.gathering import data_folder
from jobsight.settings.section import Section

__all__ = ["ActingSettings", "Mode"]

Mode = Literal["off", "observe", "advise", "enforce"]


class ActingSettings(Section):
    """``jobsight acting``: what it may do through the scheduler, and how much."""

    address: Annotated[str, Field(pattern=r"^(https?://[A-Za-z0-9.:/\[\]_\-]*[A-Za-z0-9\]])?$")] = (
        ""
    )
    """Where submissions to Slurm ask the service from machines without its socket, such as
    ``https://jobs.example.org``; empty: nowhere."""
    token: str = "~/.config/jobsight/token.header"  # noqa: S105 - its path
    """File for that, of one line, ``Authorization: Bearer TOKEN``; ~ is the home of who submits."""
    mode: Mode = "off"
    """observe: log what would be done; advise: write answers into held jobs, which no policy acts
    on; enforce: mark those that the site's policy may act on."""
    folder: Path = Field(default_factory=lambda: data_folder() / "acting", validate_default=True)
    """Folder of the kill file ``off`` and of the decision log, on a local disk."""
    every: Annotated[float, Field(ge=0.1, le=3600)] = 60.0
    """Seconds between two rounds."""
    renew: PositiveFloat = 300.0
    """Seconds after which the time of the answers to act on is renewed."""
    valid: PositiveInt = 900
    """Seconds after which the policy no longer acts on an answer."""
    per_minute: PositiveInt = 200
    """Jobs newly marked for the policy in any minute."""
    per_user: PositiveInt = 500
    """Jobs of one user that are marked for the policy at once."""
    at_once: PositiveInt = 5000
    """Jobs that are marked for the policy at once."""
    slurm_per_minute: PositiveInt = 50
    """Calls in any minute that change jobs of Slurm: one for each job or array."""
    most_holds: PositiveInt = 10
    """A job that was held so often is not released any more."""
    share: bool = False
    """Whether the service also gives tokens to kinds of job, as `jobsight share policy` does."""
    idle: bool = False
    """Whether idle jobs of HTCondor get answers, too, every `renew` seconds."""
    cool_down: Annotated[int, Field(ge=0, le=86400)] = 0
    """Seconds that a job of HTCondor is not run again after a fault of the system ended its run;
    twice as long after each, up to 32 times. 0: the site's own policy alone."""
    removal: bool = False
    """Whether enforce also marks jobs to remove; the policy file has a switch of its own."""

    profiles: Path | None = None
    """Folder in which Slurm's prologs leave profiles of jobs, and from which the collector takes
    them; None: none are made. Its owner makes them: an account of its own, the collector's."""
    profile_share: Annotated[float, Field(ge=0.0001, le=1)] = 0.01
    """Share of Slurm jobs that are profiled; six decimals count."""

    @field_validator("folder", "profiles", mode="after")
    @classmethod
    def _at_home(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser()

    @model_validator(mode="after")
    def _renewed_in_time(self) -> ActingSettings:
        if self.renew + 2 * self.every > self.valid:
            raise ValueError(
                f"renew + 2 × every ({self.renew + 2 * self.every:g} s) must be at most valid "
                f"({self.valid} s)"
            )
        return self
