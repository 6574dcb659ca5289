"""Conformance suites: what everything behind a contract must do, for us and for those who extend.

Subclass `ModelContract` in a test module, give it a `new_model`, and pytest does the rest::

    class TestMine(ModelContract):
        def new_model(self) -> Model:
            return Mine()

So too `StoreContract` (it needs hypothesis), with a `new_opener` of a `Store` made of your
`Backend`.
"""

from jobsight.testing.madejobs import made_document
from jobsight.testing.models import ModelContract, made_examples
from jobsight.testing.stores import StoreContract

__all__ = [
    "ModelContract",
    "StoreContract",
    "made_document",
    "made_examples",
]
