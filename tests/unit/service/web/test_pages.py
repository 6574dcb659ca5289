"""Every page is made, of hostile jobs too, and shows no more than its reader may see."""

from pathlib import Path

import pytest
from tests.limits import limit
from tests.serving import OTHER, client, site

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
        script = {"script": "#!/bin/bash\n#SBATCH --memory=4G\nwget http://h/x; sleep 60\n"}
        sent = asked.post("/ask", data=script).text
        assert "JS201" in sent and "<b>hold</b>" not in sent
        assert 'Lines that speak for it</summary><ul class="evidence"><li>' in sent.replace(
            "\n", ""
        )
        missing = asked.get("/jobs/slurm:grid:4242", headers={"accept": "text/html"})
        assert missing.status_code == 404
        assert "<h1>Not found</h1>" in missing.text
