"""Settings of the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, IPvAnyNetwork, PositiveFloat, PositiveInt

from jobsight.settings.section import Section

__all__ = ["ServeSettings"]


class ServeSettings(Section):
    """``jobsight serve``: where it listens, who may ask, and how much."""

    listen: Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.\-]+):\d{1,5}$")] = (
        "127.0.0.1:8642"
    )
    """Address and port. Anything but loopback is for a network that a TLS proxy protects."""
    socket: Path | None = None
    """Unix socket; None: ``serve.sock`` in $RUNTIME_DIRECTORY, else in $XDG_RUNTIME_DIR/jobsight,
    else in the user's state folder. Commands look there, and where JOBSIGHT_SERVE__SOCKET says."""
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
