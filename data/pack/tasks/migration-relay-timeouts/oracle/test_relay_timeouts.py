# wb-canary-0deb6505
import pytest

from relaypost import backoff, poller, sender, status


def test_plan():
    assert sender.plan(0) == []
    assert sender.plan(7) == pytest.approx([0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 23.75])


def test_attempts_within():
    assert [sender.attempts_within(seconds) for seconds in (0.2, 0.25, 0.74, 1.75, 16)] == [0, 1, 1, 3, 6]


def test_cap():
    assert [sender.is_capped(n) for n in (0, 3, 4, 5, 6)] == [False, False, False, True, True]


def test_may_poll_at_the_deadline():
    assert poller.may_poll(2.0, 2.999, 1.0) is True
    assert poller.may_poll(2.0, 3.0, 1.0) is False
    assert poller.may_poll(0, 1, 2) is True


def test_seconds_become_the_nearest_millisecond():
    # 1.001 times 1000 is a little less than 1001
    assert poller.may_poll(0.0, 1.001, 1.001) is False
    assert poller.may_poll(1.0, 2.001, 1.001) is False
    assert poller.may_poll(0.0, 1.0, 1.001) is True
    assert poller.next_poll(1.001, 8.2, 8.2, 9) == pytest.approx(1.001)
    assert status.left(1.0, 1.0, 1.001) == "1.0 s left"


def test_next_poll():
    assert poller.next_poll(5.0, 6.0, 30.0, 2) == pytest.approx(1.0)
    assert poller.next_poll(5.0, 6.0, 1.3, 2) == pytest.approx(0.3)
    assert poller.next_poll(5.0, 6.0, 1.0, 2) is None


def test_status():
    assert status.waiting(0) == "attempt 0 in 0.25 s"
    assert status.left(3.0, 2.5, 4.0) == "1.5 s left"
    assert status.left(3.0, 2.5, 5.5) == "time is up"
