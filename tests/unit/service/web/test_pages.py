"""Every page is made, of hostile jobs too, and shows no more than its reader may see."""

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from tests.support.calling import jobsight
from tests.support.failingjobs import HOUR, ran
from tests.support.limits import limit
from tests.support.serving import OTHER, client, site

from jobsight.documents import JobDocument, State
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


_LABELS = r"^(if so|evidence|advice|at stake|model)? *(· )?"
BROKEN = "#!/bin/bash\n#SBATCH -J align.sh --mem=8G --time=60 -c 4\nif true; then\n"


def _failed(number: int, **how: Any) -> JobDocument:
    return ran(number, number * HOUR, State.FAILED, **how)


HISTORIES = {
    "memory": [ran(n, n * HOUR, State.OUT_OF_MEMORY, peak=8190) for n in range(1, 12)],
    "killed": [_failed(n, code=137, peak=900) for n in range(1, 12)],
    "nothing ended": [ran(1, HOUR, None)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HISTORIES)
def test_a_page_says_of_a_job_and_a_script_what_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "ann")
    monkeypatch.setenv("COLUMNS", "2000")
    (tmp_path / "job.sh").write_text(BROKEN)
    served = site(tmp_path, [*HISTORIES[name], ran(99, 50 * HOUR, waits=True)])
    with client(served, "ann", "user") as asked:
        assert served.follower.await_ready(limit(60)) is not None
        pages = {"99": asked.get("/jobs/99"), "job.sh": asked.post("/ask", data={"script": BROKEN})}
    for subject, page in pages.items():
        (card,) = re.findall(r'<article class="card fail".*?</article>', page.text, re.DOTALL)
        shown = " ".join(html.unescape(re.sub("<[^>]+>", " ", card)).split())
        done = jobsight("fail", subject, "--store", served.settings.store.url)
        assert done.returncode == 0, done.stderr
        first, *lines, _model = done.stdout.splitlines()
        said = [re.split(":?  ", first)[0], *(re.sub(_LABELS, "", line.strip()) for line in lines)]
        assert len(said) > 3 or (name, subject) == ("nothing ended", "99")
        assert [text for text in said if text not in shown] == []
        assert ("JS001" in done.stdout) == (subject == "job.sh")
