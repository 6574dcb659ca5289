"""Which store an address means."""

from pathlib import Path

import pytest

from jobsight.documents import JobDocument
from jobsight.errors import UsageError
from jobsight.store import open_store


@pytest.mark.parametrize("form", ["{}", "sqlite://{}", "sqlite:///{}", "/{}"])
def test_a_file_is_addressed_by_its_path_however_many_slashes(tmp_path: Path, form: str) -> None:
    file = tmp_path / "jobs.db"
    with open_store(form.format(file), create=True) as store:
        store.merge([JobDocument(id="slurm:c:1", updated=1)])
    with open_store(str(file)) as store:
        assert [document.id for document in store.scan()] == ["slurm:c:1"]


@pytest.mark.parametrize(
    "url", ["sqlite://jobs.db", "mysql://host/jobs", " ", "a\0b"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        open_store(url, create=True)
