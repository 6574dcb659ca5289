"""From a program's text to the answer of `bound`, by the model that ships."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jobsight.documents import JobDocument, Submission
from jobsight.errors import ModelError, SourceError
from jobsight.learning.modeldir import ModelDir
from jobsight.questions.bound.answering import CLASSES, Answer, Answerer
from jobsight.questions.bound.question import BOUND_QUESTION, SHIPPED, BoundSettings

SLEEPER = "import time\nfor turn in range(100):\n    time.sleep(30)\n"
SERVER = "import http.server\nhttp.server.HTTPServer(('', 80), None).serve_forever()\n"
ON_GPU = "import cupy\nfor k in range(100):\n    cupy.linalg.svd(cupy.random.rand(4000, 4000))\n"
ACCEPTS = "import socket\ns = socket.create_server(('', 80))\nwhile True:\n    s.accept()\n"
SPINS = "total = 0\nwhile True:\n    total = total * 5 + 1\n"
TEXTS = {
    "sleep.py": SLEEPER, "serve.py": SERVER, "gpu.py": ON_GPU, "one.js": "let x = 1\n",
    "accept.py": ACCEPTS, "spin.py": SPINS,
}  # fmt: skip


@pytest.fixture(scope="module")
def model() -> ModelDir:
    return ModelDir.open(SHIPPED, BOUND_QUESTION, only_chosen=True)


def answer(model: ModelDir, name: str) -> Answer:
    return Answerer(model, 0).of_text(name, TEXTS[name])


def test_the_class_its_confidence_and_the_line_that_speaks_for_it(model: ModelDir) -> None:
    found = answer(model, "sleep.py")
    assert (found.kind, found.is_job, found.model) == ("waiting", True, model.label)
    assert BoundSettings().unsure_below <= found.confidence <= 1
    assert max(found.shares, key=lambda kind: found.shares[kind]) == "waiting"
    assert [(Path(one["file"]).name, one["line"]) for one in found.evidence] == [("sleep.py", 3)]


@pytest.mark.parametrize("name", TEXTS)
def test_shares_are_of_all_classes_and_add_up(model: ModelDir, name: str) -> None:
    shares = answer(model, name).shares
    assert set(shares) == set(CLASSES)
    assert min(shares.values()) >= 0
    assert sum(shares.values()) == pytest.approx(1)


def test_what_serves_is_not_a_job_and_its_line_comes_first(model: ModelDir) -> None:
    found = answer(model, "serve.py")
    assert not found.is_job
    first = found.evidence[0]
    assert first["line"] == 2
    assert first["what"].startswith("not a job: ")
    assert found.to_json()["job"] is False


@pytest.mark.parametrize("name", ["serve.py", "accept.py"])
def test_what_serves_waits_by_a_rule(model: ModelDir, name: str) -> None:
    found = answer(model, name)
    assert (found.kind, found.confidence) == ("waiting", 0.8)
    assert found.shares["waiting"] >= 0.8


def test_an_endless_loop_in_which_nothing_waits_is_left_to_the_model(model: ModelDir) -> None:
    found = answer(model, "spin.py")
    assert not found.is_job
    assert found.kind == "cpu"


def test_below_the_confidence_of_the_settings_it_is_unsure(model: ModelDir) -> None:
    sure = answer(model, "sleep.py")
    careful = replace(model, settings=BoundSettings(unsure_below=1.0))
    unsure = answer(careful, "sleep.py")
    assert unsure.kind == "unsure"
    assert (unsure.confidence, unsure.shares) == (sure.confidence, sure.shares)
    assert unsure.evidence == sure.evidence


def test_a_gpu_goes_before_confidence_and_takes_most_of_the_shares(model: ModelDir) -> None:
    careful = replace(model, settings=BoundSettings(unsure_below=1.0))
    found = answer(careful, "gpu.py")
    assert (found.kind, found.confidence, found.shares["gpu"]) == ("gpu", 0.8, 0.8)
    assert "unmeasured" in found.evidence[0]["what"]


def test_a_language_without_trees_is_answered_and_the_evidence_says_so(model: ModelDir) -> None:
    found = answer(model, "one.js")
    assert found.is_job
    assert [one["line"] for one in found.evidence] == [1]
    assert "no language that is read" in found.evidence[0]["what"]


def test_as_json(model: ModelDir) -> None:
    found = answer(model, "sleep.py")
    data = found.to_json()
    assert list(data) == ["file", "class", "job", "shares", "confidence", "evidence"]
    assert (data["file"], data["class"], data["job"]) == ("sleep.py", "waiting", True)
    assert list(data["shares"]) == list(CLASSES)
    assert data["shares"] == {kind: round(share, 4) for kind, share in found.shares.items()}
    assert data["confidence"] == round(found.confidence, 4)


def test_of_a_text_that_was_sent_no_file_is_read(
    model: ModelDir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sleep.py").write_text(SLEEPER)
    (tmp_path / "job.sh").write_text(script := "#!/bin/bash\npython3 sleep.py\n")
    here = Answerer(model, 0).of_file("job.sh")
    sent = Answerer(model, 0).of_text("job.sh", script)
    assert {Path(one["file"]).name for one in here.evidence} == {"sleep.py"}
    assert "sleep.py" not in {Path(one["file"]).name for one in sent.evidence}


def test_a_document_is_answered_under_its_id(model: ModelDir) -> None:
    script = Submission(script="#!/bin/bash\nsleep 3000\n", directory="/work", command="job.sh")
    found = Answerer(model, 0).of_document(JobDocument("slurm:c:7", 1, submission=script))
    assert (found.id, found.job, found.kind) == ("slurm:c:7", "slurm:c:7", "waiting")
    assert found.inputs == Answerer(model, 0).of_text("job.sh", "#!/bin/bash\nsleep 3000\n").inputs


def test_what_cannot_be_answered_is_named(model: ModelDir, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"cannot read .*none\.py"):
        Answerer(model, 0).of_file(os.fspath(tmp_path / "none.py"))
    partly = replace(model, targets={"class": model.targets["class"]})
    with pytest.raises(ModelError, match="trained without shares"):
        answer(partly, "sleep.py")
