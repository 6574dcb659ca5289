"""Fixtures for all tests: the real clusters of `tests/testbed/`."""

pytest_plugins = ["tests.testbed.fixtures"]
