"""A small store for tests of the service, and clients that ask as somebody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from jobsight.documents import JobDocument, State, condor_id
from jobsight.service.web.application import application
from jobsight.service.web.site import Site
from jobsight.service.web.tokens import Role
from jobsight.settings import ServeSettings, Settings, StoreSettings
from jobsight.store import open_store
from tests.support.storedjobs import HOSTILE, filled, held_job, job, slurm_job, told

OTHER = "htcondor:ap40:12.3"
"""A job of ann's."""


def still_held(proc: int, user: str = "ann", at: int = 90) -> JobDocument:
    """An HTCondor job that ran, and is held since."""
    records: list[tuple[int, int, State, dict[str, Any]]] = [
        (0, 0, State.PENDING, {}),
        (60, 1, State.RUNNING, {"slot": "slot1@mwt2"}),
        (at, 12, State.HELD, {"hold_code": 13, "hold_subcode": 2, "reason": "Transfer failed"}),
    ]
    events = [
        told(
            when,
            state,
            source="eventlog#1",
            position=(proc + 9) * 1000 + when,
            code=code,
            **columns,
        )
        for when, code, state, columns in records
    ]
    return job(condor_id("ap40", 77, proc), *events, user=user)


def documents() -> list[JobDocument]:
    """Jobs of ann's and bob's on an access point and a Slurm cluster."""
    ended = [slurm_job(str(n), State.PENDING, State.RUNNING, State.COMPLETED) for n in range(5)]
    waiting = [slurm_job("90", State.PENDING), slurm_job("91", State.PENDING, user="ann")]
    hostile = slurm_job("95", State.PENDING, user=f"eve{HOSTILE}")
    return [held_job(), still_held(0), still_held(1, "bob"), *ended, *waiting, hostile]


def site(folder: Path, made: Sequence[JobDocument] = (), **serve: Any) -> Site:
    """A site of a store with documents, else `documents`; its tokens are in the folder."""
    url = filled(folder / "jobs.db", made or documents())
    own = ServeSettings(**{"tokens": folder / "tokens.json", "requests_per_second": 1000} | serve)
    settings = Settings(
        store=StoreSettings(url=url), serve=own, registry=folder / "models"
    )  # fmt: skip
    return Site(settings, open_store(url))


@contextmanager
def client(served: Site, user: str | None = "bob", role: Role = "user") -> Iterator[TestClient]:
    """A client with a token of a user's; None: with none."""
    headers = {}
    if user is not None:
        headers = {"authorization": f"Bearer {served.tokens.add(user, role, 1)}"}
    app = application(served)
    with TestClient(
        app, base_url="http://127.0.0.1:8642", headers=headers, raise_server_exceptions=False
    ) as found:
        yield found
