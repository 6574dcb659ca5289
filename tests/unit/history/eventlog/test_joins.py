"""The ads of 028 records find the events that triggered them."""

from tests.logtext import EXECUTE, HELD, RELEASED, information, read_three_ways, record


def test_an_ad_goes_to_its_trigger() -> None:
    events, skipped = read_three_ways(record(12, HELD) + information(12) + record(13, RELEASED))
    assert skipped == []
    assert [event["code"] for event in events] == [12, 28, 13]
    expected = '{"EventTypeNumber":28,"Owner":"u01","TriggerEventTypeNumber":12}'
    assert [event.get("attributes") for event in events] == [expected, None, None]
    assert [event.get("owner") for event in events] == ["u01", "u01", None]


def test_an_ad_without_its_trigger_stays_where_it_is() -> None:
    events, _ = read_three_ways(record(13, RELEASED) + information(12))
    assert [("attributes" in event) for event in events] == [False, True]


def test_ads_of_writers_that_write_at_once_find_their_triggers() -> None:
    jobs = [f"{k}.000.000" for k in range(1, 6)]
    data = b"".join(record(1, EXECUTE, job) for job in jobs)
    data += record(12, HELD, jobs[0])
    data += b"".join(information(1, job, extra=f'Owner = "u{job[0]}"\n') for job in jobs)
    data += information(12, jobs[0]) + information(12, jobs[0])
    events, _ = read_three_ways(data)
    assert [event["owner"] for event in events[:6]] == ["u1", "u2", "u3", "u4", "u5", "u01"]
    assert [("attributes" in event) for event in events] == [True] * 6 + [False] * 6 + [True]


def test_an_ad_that_comes_very_late_stays_where_it_is() -> None:
    between = b"".join(record(13, RELEASED, f"{k}.0.0") for k in range(255))
    near, _ = read_three_ways(record(1, EXECUTE) + between + information(1))
    assert "attributes" in near[0]
    far, _ = read_three_ways(record(1, EXECUTE) + between + record(13, RELEASED) + information(1))
    assert "attributes" not in far[0]
    assert "attributes" in far[-1]
