"""Metrics for Prometheus: of the service itself, and counts; never a job or a user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.registry import Collector
from starlette.types import Scope

from jobsight.errors import JobsightError
from jobsight.service import status
from jobsight.service.web.callers import Caller
from jobsight.text import printable

if TYPE_CHECKING:
    from jobsight.service.web.site import Site

__all__ = ["Metrics"]

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics(Collector):
    """Counts requests; and reads the rest from the site when it is asked for."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter(
            "jobsight_requests", "Requests served.", labels, registry=self._registry
        )
        self._seconds = Histogram(
            "jobsight_request_seconds", "Time to the last byte.", ("route",),
            buckets=_BOUNDS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(self)

    def served(self, scope: Scope, code: int, seconds: float) -> None:
        """Count a request; by the route that served it, never by its path."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST") else "other"
        self._requests.labels(method, route, str(code)).inc()
        if not route.endswith("/events"):
            self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """In the text format of Prometheus."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Gauge]:
        """What the site says of itself now; see prometheus_client."""
        site, ready = self._site, self._site.follower.current
        yield Gauge("jobsight_ready", "Whether the store has been read.", ready is not None)
        yield Gauge("jobsight_event_streams", "Open event streams.", site.events.open)
        if ready is not None:
            jobs = Gauge("jobsight_jobs", "Jobs in the store.", labels=["state"])
            for state, count in ready.tables.jobs.table["state"].value_counts().iter_rows():
                jobs.add_metric([str(state)], float(count))
            yield jobs
            words = "When the latest record of a job was written."
            yield Gauge("jobsight_last_record_seconds", words, ready.end / 1e6)
        labels = ["question", "cluster", "model"]
        models = Gauge("jobsight_champion", "Models that answer.", labels=labels)
        for one in site.models(Caller("", "user")):
            if one["champion"]:
                names = [printable(one[key], 100) for key in ("question", "cluster", "digest")]
                models.add_metric(names, 1.0)
        yield models
        try:
            healthy = status.read(site.settings.collect).healthy
        except JobsightError:
            return
        yield Gauge("jobsight_collector_healthy", "Whether the collector is well.", healthy)
