"""Settings that the questions share: how models are trained, judged and drawn upon."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork, PositiveFloat, PositiveInt

from jobsight.settings.section import Section

__all__ = [
    "STATE_EVENTS",
    "BoostedSettings",
    "CheckSettings",
    "Costs",
    "FrameSettings",
    "LstmSettings",
    "ProgramSettings",
    "QuestionSettings",
    "ServeSettings",
]


class ServeSettings(Section):
    """``jobsight serve``: where it listens, who may ask, and how much."""

    listen: Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.\-]+):\d{1,5}$")] = (
        "127.0.0.1:8642"
    )
    """Address and port. Anything but loopback is for a network that a TLS proxy protects."""
    socket: Path | None = None
    """Unix socket; None: ``serve.sock`` in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR/jobsight,
    else in the user's state folder. Commands look there, and where JOBSIGHT_SERVE__SOCKET says."""
    local_users: bool = False
    """Whether any user of this machine may ask on the Unix socket, without a token, about own jobs;
    the kernel names the user. The folder of the socket must let them in."""
    base_path: Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._~\-]+)*$")] = ""
    """What a proxy puts in front of every path, such as ``/node/host/8642``."""
    hosts: tuple[str, ...] = ()
    """Names under which browsers may reach the service, besides loopback's and that of `listen`."""
    trusted_proxies: tuple[IPvAnyNetwork, ...] = ()
    """Addresses and networks of proxies: what they say in X-Forwarded-For and X-Forwarded-Proto is
    who asks, for limits and the audit log, and whether links and cookies are those of https."""
    tokens: Path | None = None
    """File of mode 0600 with the hashes of tokens; None: ``tokens.json`` in the user's data."""
    slurm_jwt_key: Path | None = None
    """File of mode 0600 with the cluster's HS256 key: Slurm's own tokens are then accepted."""
    facilitators: tuple[str, ...] = ()
    """Users whose Slurm tokens may see the jobs of all."""
    names: Literal["shown", "hidden"] = "shown"
    """Whether facilitators see names of users, or pseudonyms."""
    audit: Path | None = None
    """File that says who asked for what: two lines of JSON per request, at its begin and end; None:
    the log."""
    requests_per_second: PositiveFloat = 50.0
    """Of one user, on average; bursts may have ten times as many."""
    body_bytes: Annotated[int, Field(ge=1024, le=64 << 20)] = 4 << 20
    streams: PositiveInt = 256
    """Open event streams."""
    streams_per_user: PositiveInt = 16
    """Of them, those of one user."""
    analysts: PositiveInt = 2
    """Processes that analyse scripts; one user has at most all but one of them."""
    waiting: PositiveInt = 32
    """Scripts that wait to be analysed; more are refused with status 503."""
    follow_seconds: Annotated[float, Field(gt=0, le=600)] = 1.0
    """Between two looks for changes of the store."""


STATE_EVENTS = (0, 1, 4, 5, 7, 9, 10, 11, 12, 13, 21, 22, 23, 24, 40)
"""Event numbers that change a job's state; 006, 008, 028 and 033 only accompany."""

Fraction = Annotated[float, Field(gt=0, lt=1)]


class FrameSettings(Section):
    """The tensor e × m × j."""

    state_events: tuple[Annotated[int, Field(ge=0, le=999)], ...] = STATE_EVENTS
    """Numbers of the events that change the state of a job."""
    m: Annotated[int, Field(ge=1, le=10_000)] = 24
    """Frames per example."""
    j: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Jobs per frame, the released one included."""
    timeframe_len: PositiveFloat | Literal["auto"] = "auto"
    """Seconds a frame; auto: an eighth of the pool's time scale (see `hold.windows`)."""
    related_share: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Share of the other jobs drawn among those of the same cause, site or owner."""


class CheckSettings(Section):
    """What ``jobsight check`` reports."""

    ignore: tuple[str, ...] = ()
    """Codes of findings, or their beginnings, that are left out."""


class ProgramSettings(Section):
    """How programs are read."""

    effects: dict[str, dict[str, str]] = Field(default_factory=dict)
    """What calls of a site's own libraries do: language, effect, names parted by blanks."""


class Costs(Section):
    """What decisions cost, in units of one wasted run."""

    wasted_run: PositiveFloat = 1.0
    """A run that fails."""
    lost_job: PositiveFloat = 4.0
    """A job removed, or left, that would have succeeded."""
    delay_per_hour: Annotated[float, Field(ge=0)] | Literal["auto"] = "auto"
    """Auto: one time scale of the pool (see `hold.windows`) costs a twentieth of a run."""


class BoostedSettings(Section):
    """Boosted trees, in LightGBM's terms; None: as suits the number of rows."""

    learning_rate: Annotated[float, Field(gt=0, le=1)] | None = None
    """Shrinkage of each tree."""
    num_leaves: Annotated[int, Field(ge=2, le=1024)] | None = None
    """Most leaves of a tree."""
    min_data_in_leaf: Annotated[int, Field(ge=1)] | None = None
    """Fewest rows of a leaf."""
    lambda_l2: Annotated[float, Field(ge=0)] | None = None
    """L2 regularization."""
    feature_fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the features that each tree sees."""


class LstmSettings(Section):
    """The recurrent model."""

    network: str = "lstm"
    """A network's name, or ``package.module:Class`` of the user's own."""
    lstm_layers: Annotated[int, Field(ge=1, le=8)] = 1
    """Layers on top of each other."""
    hidden_size: Annotated[int, Field(ge=1, le=4096)] = 32
    """Units per layer."""
    dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Share of the units that a training step leaves out."""
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 0.003
    """Step size of AdamW."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.001
    """Of AdamW."""
    batch_size: PositiveInt = 64
    """Examples per training step."""
    epochs: PositiveInt = 60
    """Most passes over the training rows."""
    patience: PositiveInt = 8
    """Epochs without a better select loss before training stops."""
    device: Literal["auto", "cpu", "cuda"] = "cpu"
    """Where it is trained; auto: on a GPU where PyTorch sees one. Answers always come from the CPU;
    the same bits again only on the same kind of device."""


class QuestionSettings(Section):
    """What the settings of every question have."""

    test_share: Fraction = 0.2
    """Share of the decisions that test, the latest ones; all before them train."""
    metric: str | None = None
    """What chooses among models and decides comparisons; None: the loss of the target."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Of everything random."""
    bootstrap: Annotated[int, Field(ge=100, le=100_000)] = 1000
    """Resamples behind the intervals of scores."""
