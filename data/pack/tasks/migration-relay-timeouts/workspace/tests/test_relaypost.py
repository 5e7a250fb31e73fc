import pytest

from relaypost import backoff, poller, sender, status


def test_backoff_doubles_up_to_the_cap():
    assert [backoff.backoff_ms(n) for n in (0, 1, 2, 9)] == [250, 500, 1000, 8000]


def test_deadline_takes_whole_milliseconds():
    assert backoff.Deadline(1000, 500).left_ms(1200) == 300
    with pytest.raises(TypeError):
        backoff.Deadline(1.0, 500)


def test_plan():
    assert sender.plan(3) == [0.25, 0.75, 1.75]


def test_attempts_within_two_seconds():
    assert sender.attempts_within(2) == 3


def test_may_poll():
    assert poller.may_poll(10.0, 10.5, 1.0) is True
    assert poller.may_poll(10.0, 11.5, 1.0) is False


def test_next_poll():
    assert poller.next_poll(10.0, 10.5, 30.0, 1) == 0.5


def test_status_line():
    assert status.waiting(3) == "attempt 3 in 2.00 s"
