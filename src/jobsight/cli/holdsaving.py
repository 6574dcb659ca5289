"""Which document an answer for a held job belongs to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jobsight.cli.saving import by_id
from jobsight.documents import parse_key

if TYPE_CHECKING:
    from jobsight.questions.hold.answering.answer import Answer
    from jobsight.store import Store

__all__ = ["held_documents"]

_UNNAMED = re.compile(r"log-[0-9a-f]{8}", re.ASCII)


def held_documents(store: Store, answer: Answer) -> list[str]:
    """The ids of documents that it may be of; where no log names the access point, by job."""
    if answer.id is not None:
        return by_id(store, answer)
    keys = ((id_, parse_key(id_)) for id_ in store.numbered(str(answer.job.cluster)))
    return [
        id_
        for id_, key in keys
        if key.scheduler == "htcondor"
        and key.job == str(answer.job)
        and _UNNAMED.fullmatch(key.cluster)
    ]
