from pathlib import Path

import pytest

from jobsight.errors import SettingsError
from jobsight.service.kafka import Connection
from jobsight.settings import KafkaSettings


def connection(tmp_path: Path, text: str, mode: int = 0o600) -> Connection:
    path = tmp_path / "kafka.properties"
    path.write_text(text)
    path.chmod(mode)
    return Connection(KafkaSettings(properties=path))


def test_the_file_the_environment_and_our_own_properties_are_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBSIGHT_KAFKA_USERNAME", "me")
    text = "# ours\nbootstrap.servers = a:1\n\nsasl.mechanism=PLAIN\nsasl.password=x=y\n"
    made = connection(tmp_path, text).configuration({"acks": "all"})
    assert made["bootstrap.servers"] == "a:1"
    assert made["sasl.password"] == "x=y"
    assert made["sasl.username"] == "me"
    assert made["acks"] == "all"


def test_settings_name_the_brokers_before_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text("bootstrap.servers=a:1\n")
    assert Connection(KafkaSettings(properties=path, brokers="b:2")).brokers == "b:2"


@pytest.mark.parametrize(
    "line",
    ["sasl.password=x", "ssl.key.password=x", "ssl.keystore.password=x", "ssl.key.pem=x",
     "sasl.oauthbearer.client.secret=x", "sasl.oauthbearer.config=secret=x"],
)  # fmt: skip
def test_a_file_with_secrets_that_others_can_read_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(SettingsError, match="chmod 600") as caught:
        connection(tmp_path, f"bootstrap.servers=a:1\n{line}\n", 0o640)
    assert "=x" not in str(caught.value)


def test_without_secrets_others_may_read_it(tmp_path: Path) -> None:
    assert connection(tmp_path, "bootstrap.servers=a:1\n", 0o644).brokers == "a:1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bootstrap.servers\n", ":1: write name=value"),
        ("a=b\nHELLO WORLD=1\n", ":2: write name=value"),
        ("plugin.library.paths=/tmp/evil.so\n", "may not be set"),
        ("ssl.engine.location=/tmp/evil.so\n", "may not be set"),
        ("enable.auto.commit=true\n", "may not be set"),
        ("group.id=other\n", "may not be set"),
        ("on_delivery_cb=x\n", "may not be set"),
        ("a=b\n", "no broker is named"),
        ("", "no broker is named"),
        ("x" * 70_000, "at most 64 KiB"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        connection(tmp_path, text)


def test_a_missing_or_odd_file_is_one_clear_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(SettingsError):
            Connection(KafkaSettings(properties=path))
    with pytest.raises(SettingsError, match="no broker is named"):
        Connection(KafkaSettings())


def test_secrets_are_struck_out_of_what_is_shown(tmp_path: Path) -> None:
    secrets = "sasl.password=hunter2\nssl.key.password=hunter2x\n"
    text = f"bootstrap.servers=a:1\nsasl.username=me\n{secrets}"
    made = connection(tmp_path, text)
    assert made.shown("refused: hunter2x and hunter2 of me\n\x1b") == "refused: *** and *** of me"


def test_no_secret_stands_in_the_settings() -> None:
    assert not [name for name in KafkaSettings.model_fields if "pass" in name or "secret" in name]
