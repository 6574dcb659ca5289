"""The job document: all that is known of one job, how it is written, and how sources are joined.

`document` has the structs, `keys` their ids, `states` the life cycle, `codec` the JSON, `merging`
the rules by which what several sources know becomes one document, `spans` a timeline as stretches
in one state.
"""

from jobsight.documents.codec import decode, encode, to_json
from jobsight.documents.document import (
    JSON,
    SCHEMA,
    Event,
    JobDocument,
    Outcome,
    Prediction,
    Program,
    Request,
    Submission,
    Usage,
)
from jobsight.documents.keys import JobKey, condor_id, number_of, parse_key, slurm_id
from jobsight.documents.merging import merge
from jobsight.documents.states import State

__all__ = [
    "JSON",
    "SCHEMA",
    "Event",
    "JobDocument",
    "JobKey",
    "Outcome",
    "Prediction",
    "Program",
    "Request",
    "State",
    "Submission",
    "Usage",
    "condor_id",
    "decode",
    "encode",
    "merge",
    "number_of",
    "parse_key",
    "slurm_id",
    "to_json",
]
