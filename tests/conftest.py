"""Fixtures for all tests: the real clusters of `tests/testbed/`; how hypothesis runs."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.testbed.fixtures"]

# A machine that is busy with something else is slow, but nothing is wrong with it.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
