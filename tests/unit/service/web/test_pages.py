"""Every page is made, of hostile jobs too, and shows no more than its reader may see."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.support.limits import limit
from tests.support.serving import OTHER, client, site

from jobsight.service.web.asking import pending_rows
from jobsight.service.web.ready import Ready

PATHS = (
    "/", "/held", "/outages?hours=168", "/pending", "/jobs", "/ask", "/models", "/collectors",
    "/login", f"/jobs/{OTHER}", "/jobs/slurm:grid:95", "/jobs/slurm:grid:1",
)  # fmt: skip


@pytest.mark.slow
def test_every_page_is_made_and_hostile_text_stays_text(tmp_path: Path) -> None:
    served = site(tmp_path)
    with client(served, "root", "facilitator") as asked:
        assert served.follower.await_ready(limit(60)) is not None
        for path in PATHS:
            reply = asked.get(path, headers={"accept": "text/html"})
            assert reply.status_code == 200, (path, reply.text[-300:])
            assert reply.text.count("<h1>") == 1, path
            assert "\x1b" not in reply.text and "\u202e" not in reply.text
            assert 'style="' not in reply.text and "<script>" not in reply.text
        assert "Transfer failed" in asked.get("/held").text
        models = asked.get("/models").text
        assert "2026-11-16" in models and "boosted" in models and "No answer is kept" not in models
        served.follower.errors.record("store not read", OSError("no space"))
        assert "OSError: no space" in asked.get("/collectors").text
        assert "no space" not in asked.get("/api/v1/health").text
        ended = asked.get("/jobs/slurm:grid:1").text
        assert "last 5 runs of name of grid:1 none failed" in ended
        assert "Asked and used" in ended
        script = {"script": "#!/bin/bash\n#SBATCH --memory=4G\nwget http://h/x; sleep 60\n"}
        sent = asked.post("/ask", data=script).text
        assert "JS201" in sent and "<b>hold</b>" not in sent
        assert 'Lines that speak for it</summary><ul class="evidence"><li>' in sent.replace(
            "\n", ""
        )
        submit = {"script": "executable = /bin/sh\nrequest_memroy = 1GB\nqueue\n"}
        assert "JS404" in asked.post("/ask", data=submit).text
        dag = {"script": "JOB a a.sub\nPARENT a CHILD b\n"}
        assert "JS422" in asked.post("/ask", data=dag).text
        missing = asked.get("/jobs/slurm:grid:4242", headers={"accept": "text/html"})
        assert missing.status_code == 404
        assert "<h1>Not found</h1>" in missing.text


def test_search_leads_to_the_page_of_the_job(tmp_path: Path) -> None:
    with client(site(tmp_path), "root", "admin") as asked:
        found = asked.get("/jobs?id=12.3", follow_redirects=False)
        assert found.status_code == 303
        assert unquote(found.headers["location"]) == f"/jobs/{OTHER}"
        assert "<h1>" in asked.get(found.headers["location"]).text


def test_who_has_an_expired_token_sees_the_login_as_it_should_be(tmp_path: Path) -> None:
    with client(site(tmp_path), None) as asked:
        asked.cookies.set("jobsight", "expired")
        page = asked.get("/held", headers={"accept": "text/html"})
        assert page.status_code == 200 and "<h1>Sign in</h1>" in page.text
        for path in re.findall(r'(?:href|src)="(/static/[^"]*)"', page.text):
            assert asked.get(path).status_code == 200, path
        assert asked.get("/api/v1/jobs").status_code == 401


@pytest.mark.slow
def test_all_pending_jobs_are_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobsight.service.web.asking.MOST_JOBS", 2)
    served = site(tmp_path)
    with client(served, "root", "admin") as asked:
        assert served.follower.await_ready(limit(60)) is not None
        few = asked.get("/api/v1/pending").json()
        monkeypatch.undo()
        ready = served.follower.current
        assert ready is not None
        rows = pending_rows(Ready(ready.tables, served.settings), served.store, None)
    stakes = [(one["fail"] or {}).get("core_hours_at_stake") or 0.0 for one in rows]
    assert len(few) == 2 < len(rows) and stakes == sorted(stakes, reverse=True)
    assert [one["id"] for one in few] == [one["id"] for one in rows[:2]]
