"""Whatever is in a run's folder, reading its record gives a record or one named error."""

import json
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.limits import examples

from jobsight.errors import SweepError
from jobsight.tuning.record import RunRecord, run_folder, started_runs

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=9,
)
WHOLE = msgspec.to_builtins(RunRecord(7, {"m": 3}, metrics={"f1": 0.5}, started="2026-11-21"))


@settings(max_examples=examples(300), deadline=None)
@given(
    st.binary(max_size=200)
    | JSON.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.sampled_from(sorted(WHOLE)), JSON).map(
        lambda changed: json.dumps(WHOLE | changed).encode()
    )
)
def test_a_record_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = run_folder(Path(name), 7)
        place.mkdir(parents=True)
        (place / "run.json").write_bytes(content)
        try:
            record = RunRecord.read(place)
        except SweepError as error:
            assert "run.json is damaged" in str(error)
            record = None
        found = list(started_runs(Path(name)))
        assert found == ([record] if record is not None and record.run == 7 else [])
