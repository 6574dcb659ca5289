"""How to reach Kafka: librdkafka's properties from settings, a file and the environment.

Secrets are in the file (mode 0600) or in the environment, and are struck out of every text that
is shown. Names: librdkafka's CONFIGURATION.md.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobsight.errors import SettingsError
from jobsight.settings import KafkaSettings
from jobsight.text import printable

__all__ = ["Connection"]

_SECRET = re.compile(r"password|secret|\.pem$|oauthbearer\.config|sasl\.jaas")
_FORBIDDEN = re.compile(
    r"plugin\.library\.paths|ssl\.engine\.location|ssl\.providers|.*_cb|"
    r"enable\.auto\.commit|enable\.auto\.offset\.store|group\.id|opaque"
)
"""What would load code, or take from us the promise that offsets follow documents."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._]{0,99}", re.ASCII)
_MOST_BYTES = 64 << 10
_FROM_ENVIRONMENT = {
    "JOBSIGHT_KAFKA_USERNAME": "sasl.username",
    "JOBSIGHT_KAFKA_PASSWORD": "sasl.password",
    "JOBSIGHT_KAFKA_KEY_PASSWORD": "ssl.key.password",
}
_WIDTH = 300


class Connection:
    """How to reach the brokers.

    Raises:
        SettingsError: no brokers are named, or the file is missing, malformed, open to others
            though it holds secrets, or sets what it may not.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._properties = _read(settings.properties) if settings.properties else {}
        if settings.brokers is not None:
            self._properties["bootstrap.servers"] = settings.brokers
        for variable, name in _FROM_ENVIRONMENT.items():
            if value := os.environ.get(variable):
                self._properties[name] = value
        if not self._properties.get("bootstrap.servers"):
            raise SettingsError(
                "kafka: no broker is named; set kafka.brokers, or bootstrap.servers in the file "
                "that kafka.properties names"
            )
        self._secrets = sorted(
            (value for name, value in self._properties.items() if _SECRET.search(name)),
            key=len,
            reverse=True,
        )

    @property
    def brokers(self) -> str:
        """The brokers named, to be shown."""
        return printable(self._properties["bootstrap.servers"], _WIDTH)

    def configuration(self, ours: Mapping[str, Any]) -> dict[str, Any]:
        """Properties for a client; `ours` win over those of the file."""
        return {
            "client.id": "jobsight",
            "socket.timeout.ms": 10_000,
            # A topic may come into being after us: jobcomp's does with the first job that ends.
            "topic.metadata.refresh.interval.ms": 30_000,
            # Its own pause between two tries of a broker that refuses does not grow.
            "reconnect.backoff.ms": 1000,
            # It would log the same line at each try of a broker; `error_cb` reports it once.
            "log_level": 2,
            **self._properties,
            **ours,
        }

    def shown(self, error: object) -> str:
        """An error of the library as one line, in its words and without secrets."""
        inner = error.args[0] if isinstance(error, Exception) and error.args else error
        text = str(inner.str() if hasattr(inner, "str") else error)
        for secret in self._secrets:
            text = text.replace(secret, "***") if len(secret) > 2 else text
        return printable(text, _WIDTH)


def _read(path: Path) -> dict[str, str]:
    try:
        # Opened once, so that what is judged is what is read.
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                raise SettingsError(f"{path} is not a file of properties of at most 64 KiB")
            text = file.read(_MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read Kafka's properties from {path}: {error}") from None
    properties: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()  # noqa: PLW2901
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not _NAME.fullmatch(name):
            raise SettingsError(f"{path}:{number}: write name=value")
        if _FORBIDDEN.fullmatch(name):
            raise SettingsError(f"{path}:{number}: {name} may not be set for jobsight")
        properties[name] = value
    if any(_SECRET.search(name) for name in properties) and status.st_mode & 0o077:
        raise SettingsError(f"{path} holds secrets, and others may read it; run: chmod 600 {path}")
    return properties
