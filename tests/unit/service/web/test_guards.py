"""Who is let in, and to what: each way around it that other services have had is tried."""

import asyncio
import gc
import json
import os
import pwd
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import jwt
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient
from tests.support import pools
from tests.support.serving import OTHER, client, site
from tests.support.storedjobs import slurm_job

from jobsight.documents import State
from jobsight.errors import SettingsError, StoreError
from jobsight.learning.registry import Registry
from jobsight.service.web.application import application
from jobsight.service.web.events import Events
from jobsight.service.web.guards import COOKIE, RefusedError
from jobsight.service.web.site import Site
from jobsight.service.web.tokens import Caller, Tokens
from jobsight.settings import ServeSettings

KEY = b"k" * 64
OPEN = ("/api/v1/health", "/metrics", "/openapi.json")
CLOSED = (
    "/api/v1/jobs", "/api/v1/jobs/90", "/api/v1/jobs/90/answers", "/api/v1/held",
    "/api/v1/pending", "/api/v1/models", "/api/v1/collectors", "/api/v1/events",
)  # fmt: skip


def slurm_token(key: bytes = KEY, algorithm: str = "HS256", **claims: object) -> str:
    """A token as ``scontrol token`` makes it."""
    now = int(time.time())
    return jwt.encode({"iat": now, "exp": now + 60, "sun": "bob"} | claims, key, algorithm)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site for tests that leave it as it is."""
    return site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def bob(served: Site) -> Iterator[TestClient]:
    with client(served) as asked:
        yield asked


def test_without_a_token_nothing_of_a_job_is_shown(tmp_path: Path) -> None:
    with client(site(tmp_path), None) as asked:
        assert {asked.get(path).status_code for path in CLOSED} == {401}
        for path, body in (("answers/hold", {"jobs": ["90"]}), ("check", {"script": "x"})):
            assert asked.post(f"/api/v1/{path}", json=body).status_code == 401
        for path in OPEN:
            answer = asked.get(path)
            assert answer.status_code == 200
            assert "bob" not in answer.text and "slurm:grid:90" not in answer.text


def test_heads_are_those_of_the_answers(bob: TestClient) -> None:
    for path in ("/api/v1/jobs", "/ask", "/metrics"):
        assert bob.head(path).status_code == 200, path
    assert bob.head("/api/v1/jobs/4242").status_code == 404
    assert bob.head("/api/v1/events").status_code == 405  # it has no end


def test_a_user_sees_own_jobs_alone(tmp_path: Path) -> None:
    with client(site(tmp_path)) as asked:
        seen = asked.get("/api/v1/jobs?limit=500").json()["jobs"]
        assert seen and {one["user"] for one in seen} == {"bob"}
        assert asked.get("/api/v1/jobs?user=ann").json() == {"jobs": [], "next": None}
        assert asked.get("/api/v1/jobs/90").status_code == 200
        for path in (OTHER, "12.3", "91", "slurm:grid:91", f"{OTHER}/answers"):
            assert asked.get(f"/api/v1/jobs/{path}").status_code == 404, path
        # What is not there and what is another's cannot be told apart.
        assert asked.get("/api/v1/jobs/91").text.replace("91", "9999") == (
            asked.get("/api/v1/jobs/9999").text
        )


@pytest.mark.parametrize(
    "filter_",
    ["user=bob'%20OR%20'1'='1", "user=bob%25", "user=%00", "user=ann%0Abob", "cluster=%25",
     "cluster=grid'--", "state=held')%20OR%201=1--", "user[$ne]=x", "after=e30",
     "after=1:x", "after=../../etc/passwd", "limit=-1", "limit=1e9", "since=99999999999999"
     "9999999999"],
)  # fmt: skip
def test_no_filter_widens_what_is_seen(bob: TestClient, filter_: str) -> None:
    answer = bob.get(f"/api/v1/jobs?{filter_}")
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        assert {one["user"] for one in answer.json()["jobs"]} <= {"bob"}


@pytest.mark.parametrize(
    "path",
    ["//api/v1/jobs", "/api/v1/../v1/jobs", "/static/../api/v1/jobs", "/api/v1/health/../jobs",
     "/login/../api/v1/jobs", "/static/%2e%2e/%2e%2e/tokens.json", "/api/v1/jobs/%2e%2e%2fhealth",
     "/api/v1/jobs/..%2f..%2fetc%2fpasswd", "/api/v1/jobs/90%00", "/metrics/../api/v1/jobs"],
)  # fmt: skip
def test_no_path_leads_around_the_gate(bob: TestClient, path: str) -> None:
    url = bob.base_url.copy_with(raw_path=path.encode())
    answer = bob.get(url, headers={"authorization": ""})
    assert answer.status_code in (401, 404, 405)
    assert "slurm:grid" not in answer.text and "hash" not in answer.text


@pytest.mark.parametrize(
    "made",
    [
        lambda: slurm_token(exp=int(time.time()) - 1),
        lambda: slurm_token(b"x" * 32),
        lambda: slurm_token(algorithm="HS384"),
        lambda: slurm_token(sun="root'--"),
        lambda: slurm_token(sun=["bob"]),
        lambda: jwt.encode({"sun": "bob", "exp": int(time.time()) + 60}, "", "none"),
        lambda: jwt.encode({"sun": "bob"}, KEY, "HS256"),
        lambda: jwt.encode({"exp": int(time.time()) + 60}, KEY, "HS256"),
        lambda: slurm_token() + "A",
        lambda: "jobsight_00000000_" + "A" * 43,
        lambda: "x" * 100_000,
    ],
    ids=range(11),
)
def test_no_forged_token_is_taken(tmp_path: Path, made: Callable[[], str]) -> None:
    key = tmp_path / "jwt.key"
    key.write_bytes(KEY)
    key.chmod(0o600)
    served = site(tmp_path, slurm_jwt_key=key)
    assert served.tokens.caller(made()) is None
    good = served.tokens.caller(slurm_token())
    assert good is not None and (good.name, good.role) == ("bob", "user")
    root = served.tokens.caller(slurm_token(sun="root"))
    assert root is not None and root.role == "user"


def test_tokens_end_and_can_be_removed(tmp_path: Path) -> None:
    tokens = Tokens(ServeSettings(tokens=tmp_path / "tokens.json"))
    kept, short = tokens.add("ann", "admin", None), tokens.add("bob", "user", 1e-9)
    assert tokens.caller(kept) is not None and tokens.caller(short) is None
    assert kept.split("_", 2)[2] not in (tmp_path / "tokens.json").read_text()
    tokens.remove(tokens.list()[0].id)
    assert tokens.caller(kept) is None
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600


def test_a_file_of_secrets_that_others_may_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        Tokens(ServeSettings(tokens=tmp_path / "t.json", slurm_jwt_key=tmp_path / "key"))


def test_pages_of_other_sites_and_names_are_refused(tmp_path: Path) -> None:
    with client(site(tmp_path)) as asked:
        assert asked.get("/api/v1/jobs", headers={"host": "evil.example"}).status_code == 400
        body = {"script": "true\n"}
        for headers in (
            {"origin": "http://evil.example"}, {"origin": "null"},
            {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
        ):  # fmt: skip
            assert asked.post("/api/v1/check", json=body, headers=headers).status_code == 403
        own = {"origin": "http://127.0.0.1:8642", "sec-fetch-site": "same-origin"}
        assert asked.post("/api/v1/check", json=body, headers=own).status_code == 200


def test_a_browser_signs_in_and_stays_on_the_service(tmp_path: Path) -> None:
    served = site(tmp_path)
    token = served.tokens.add("bob", "user", 1)
    with client(served, None) as asked:
        asked.follow_redirects = False
        for next_, where in (("/held", "/held"), ("//evil", "/"), ("https://evil", "/")):
            answer = asked.post("/login", data={"token": token, "next": next_})
            assert (answer.status_code, answer.headers["location"]) == (303, where)
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=strict" in cookie
        assert asked.get("/api/v1/jobs").status_code == 200
        asked.post("/logout")
        assert asked.get("/api/v1/jobs").status_code == 401
        assert asked.post("/login", data={"token": "no"}).status_code == 401
        page = asked.get("/held", headers={"accept": "text/html"})
        assert (page.status_code, page.headers["location"]) == (303, "/login?next=/held")


def test_bodies_and_rates_are_bounded(tmp_path: Path) -> None:
    served = site(tmp_path, body_bytes=2048, requests_per_second=1)
    with client(served) as asked:
        assert asked.post("/api/v1/check", content=b"x" * 4096).status_code == 413
        assert asked.post("/api/v1/check", content=iter([b"x" * 1500] * 3)).status_code == 413
        for text in (b"{", b"[" * 2000, b'"\\ud800"', b"\xff", b"1" * 2000, b"null"):
            answer = asked.post(
                "/api/v1/check", content=text, headers={"content-type": "application/json"}
            )
            assert answer.status_code in (400, 422), text[:10]
        codes = [asked.get("/api/v1/models").status_code for _ in range(15)]
        assert codes[0] == 200 and codes[-1] == 429


def test_names_are_hidden_from_facilitators_where_settings_say_so(tmp_path: Path) -> None:
    with client(site(tmp_path, names="hidden"), "fay", "facilitator") as asked:
        shown = asked.get(f"/api/v1/jobs/{OTHER}").text
        assert '"ann"' not in shown and "user-" in shown
        pseudonym = asked.get(f"/api/v1/jobs/{OTHER}").json()["submission"]["user"]
        everything = asked.get("/api/v1/jobs?limit=500")
        assert {"ann", "bob"}.isdisjoint(one["user"] for one in everything.json()["jobs"])
        assert pseudonym in everything.text


def test_the_audit_log_has_who_and_what_and_no_secret(tmp_path: Path) -> None:
    audit = tmp_path / "audit.jsonl"
    served = site(tmp_path, audit=audit)
    with client(served) as asked:
        token = asked.headers["authorization"]
        asked.get("/api/v1/jobs?user=secret")
        asked.get("/api/v1/jobs", headers={"authorization": "Bearer nonsense"})
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    seen = [(one["request"], one["stage"], one["user"], one["status"]) for one in lines]
    assert seen == [
        (1, "begin", "bob", None), (1, "end", "bob", 200), (2, "end", None, 401)
    ]  # fmt: skip
    assert {one["path"] for one in lines} == {"/api/v1/jobs"}
    text = audit.read_text()
    assert token.split("_", 2)[2] not in text and "secret" not in text and "nonsense" not in text
    assert audit.stat().st_mode & 0o777 == 0o600


def test_answers_are_tagged_and_pages_locked_down(tmp_path: Path) -> None:
    with client(site(tmp_path)) as asked:
        first = asked.get("/api/v1/jobs")
        again = asked.get("/api/v1/jobs/90", headers={"if-none-match": "W/other"})
        assert again.status_code == 200
        tag = again.headers["etag"]
        assert asked.get("/api/v1/jobs/90", headers={"if-none-match": tag}).status_code == 304
        policy = first.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert first.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["DOM\\ann", "user", "slurm", "id", "pending", "ann@site.org"])
def test_names_that_are_words_of_ours_are_hidden_in_values_alone(tmp_path: Path, name: str) -> None:
    served = site(tmp_path, names="hidden")
    ad = json.dumps({"Owner": name, "Iwd": "/home/ann/work"})
    written = slurm_job("96", State.PENDING, user=name)
    event = replace(written.timeline[0], attributes=ad, reason=f"asked by {name}")
    line = f"sbatch /home/{name}/run.sh"
    submission = replace(written.submission, line=line)
    served.store.merge([replace(written, timeline=(event,), submission=submission)])
    with client(served, "fay", "facilitator") as asked:
        shown = asked.get("/api/v1/jobs/slurm:grid:96").json()
        pseudonym = shown["submission"]["user"]
        assert pseudonym.startswith("user-")
        assert (shown["id"], shown["state"]) == ("slurm:grid:96", "pending")
        assert shown["submission"]["line"] == f"sbatch /home/{pseudonym}/run.sh"
        assert shown["timeline"][0]["reason"] == f"asked by {pseudonym}"
        if name != "id":  # which is no word of the ad's other values
            assert pseudonym in shown["timeline"][0]["attributes"]
        row = asked.get(f"/api/v1/jobs?user={pseudonym}").json()["jobs"][0]
        assert (row["id"], row["user"]) == ("slurm:grid:96", pseudonym)


@contextmanager
def forwarded(served: Site, proxy: str) -> Iterator[TestClient]:
    """A client without a token, whose requests come from the address `proxy`."""
    app = application(served)
    with TestClient(app, base_url="http://127.0.0.1:8642", client=(proxy, 9)) as asked:
        asked.follow_redirects = False
        yield asked


def sign_in(asked: TestClient, by: str, token: str = "no", **headers: str) -> Any:
    """An attempt to sign in through a proxy, by a client at an address."""
    return asked.post(
        "/login", data={"token": token}, headers={"x-forwarded-for": f"10.0.0.1, {by}", **headers}
    )


def test_clients_of_a_trusted_proxy_have_limits_of_their_own(tmp_path: Path) -> None:
    served = site(tmp_path, requests_per_second=1, trusted_proxies=["192.0.2.0/24"])
    token = served.tokens.add("bob", "user", 1)
    with forwarded(served, "192.0.2.7") as asked:
        codes = [sign_in(asked, "198.51.100.1").status_code for _ in range(15)]
        assert codes[0] == 401 and codes[-1] == 429
        by_https = {"x-forwarded-proto": "https"}
        answer = sign_in(asked, "203.0.113.9", token, **by_https)
        assert answer.status_code == 303
        assert "secure" in answer.headers["set-cookie"].lower()
        asked.cookies.set(COOKIE, token)
        found = asked.get("/jobs?id=90", headers=by_https)
        assert found.headers["location"] == "/jobs/slurm:grid:90"


def test_what_others_say_of_whom_they_forward_is_not_believed(tmp_path: Path) -> None:
    served = site(tmp_path, requests_per_second=1, trusted_proxies=["192.0.2.0/24"])
    with forwarded(served, "198.51.100.1") as asked:
        codes = [sign_in(asked, f"203.0.113.{number}").status_code for number in range(15)]
        assert codes[0] == 401 and codes[-1] == 429


def test_tokens_cannot_be_tried_without_end(tmp_path: Path) -> None:
    with client(site(tmp_path, requests_per_second=1), None) as asked:
        wrong = {"authorization": "Bearer jobsight_00000000_" + "A" * 43}
        codes = [asked.get("/api/v1/jobs", headers=wrong).status_code for _ in range(15)]
        assert codes[0] == 401 and codes[-1] == 429


def test_streams_are_counted_by_user_and_exactly() -> None:
    async def opened() -> None:
        events = Events(3, 2)
        bob, ann = Caller("bob", "user"), Caller("ann", "user")
        streams = [await events.subscribe(bob) for _ in range(2)]
        with pytest.raises(RefusedError, match="too many"):
            await events.subscribe(bob)
        await events.subscribe(ann)  # and never read: a client that went away at once
        with pytest.raises(RefusedError, match="too many"):
            await events.subscribe(Caller("eve", "user"))
        gc.collect()
        async with asyncio.timeout(60):
            while events.open > 2:
                await asyncio.sleep(0)
        assert await anext(streams[0]) == b"retry: 3000\n\n"
        await streams[0].aclose()  # type: ignore[attr-defined]
        assert events.open == 1

    asyncio.run(opened())


def test_users_see_no_paths_of_this_machine_and_no_names_of_its_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = site(tmp_path)
    folder = tmp_path / "made"
    trained = pools.trained()
    folder.mkdir()
    trained.model.save(folder, seed=0, facts=trained.facts())
    digest = Registry(served.settings.registry).put(folder, "hold", why=f"trained on {folder}")
    by = served.models(Caller("root", "admin"))[0]["by"]
    admin = {"authorization": f"Bearer {served.tokens.add('eve', 'admin', 1)}"}
    with client(served) as asked:
        for path in ("api/v1/models", "models", f"models/{digest}", "collectors"):
            assert asked.get(f"/{path}").status_code == 200
            shown = asked.get(f"/{path}").text
            assert str(tmp_path) not in shown and by not in shown, path
        assert by in asked.get("/models", headers=admin).text

        def fail(*_: object) -> None:
            raise StoreError(f"the store {tmp_path}/jobs.db is damaged")

        monkeypatch.setattr(served, "held", fail)
        answers = [asked.get("/api/v1/held", headers=one) for one in ({}, admin)]
        assert [one.status_code for one in answers] == [500, 500]
        assert [str(tmp_path) in one.text for one in answers] == [False, True]


def asked_by_socket(
    served: Site, user: int | None, client: tuple[str, int] | None = None, **headers: str
) -> httpx.Response:
    """What a user id on the Unix socket gets, or by TCP from `client`."""
    app = application(served)

    async def connected(scope: Any, receive: Any, send: Any) -> None:
        state = {"connection": SimpleNamespace(user=user)}
        await app({**scope, "client": client, "state": state}, receive, send)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(connected)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as found:
            return await found.get("/api/v1/jobs", headers=headers)

    return asyncio.run(ask())


def test_users_of_the_machine_see_their_jobs_on_the_socket_where_they_may(tmp_path: Path) -> None:
    other = next(entry for entry in pwd.getpwall() if entry.pw_uid != os.getuid())
    documents = [slurm_job("1", State.PENDING, user=other.pw_name), slurm_job("2", State.PENDING)]
    (tmp_path / "closed").mkdir()
    assert asked_by_socket(site(tmp_path / "closed", documents), other.pw_uid).status_code == 401
    served = site(tmp_path, documents, local_users=True)
    jobs = asked_by_socket(served, other.pw_uid).json()["jobs"]
    assert [(job["job"], job["user"]) for job in jobs] == [("1", other.pw_name)]
    assert len(asked_by_socket(served, os.getuid()).json()["jobs"]) == 2
    nameless = max(entry.pw_uid for entry in pwd.getpwall()) - 1
    refused = [
        asked_by_socket(served, other.pw_uid, ("127.0.0.1", 4000)),
        asked_by_socket(served, other.pw_uid, None, **{"x-forwarded-for": "192.0.2.1"}),
        asked_by_socket(served, nameless),
        asked_by_socket(served, None),
    ]
    assert {reply.status_code for reply in refused} == {401}
