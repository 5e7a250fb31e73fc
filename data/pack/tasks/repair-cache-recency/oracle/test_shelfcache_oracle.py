# wb-canary-b10fa5b9
import pytest

from shelfcache import ShelfCache, remember


def filled(*keys, capacity=3):
    cache = ShelfCache(capacity)
    for key in keys:
        cache.put(key, key.upper())
    return cache


def test_reading_the_oldest_saves_it():
    cache = filled("a", "b", "c")
    assert cache.get("a") == "A"
    cache.put("d", "D")
    assert cache.keys() == ["c", "a", "d"]
    assert cache.evicted == 1


def test_reading_the_newest_changes_nothing():
    cache = filled("a", "b", "c")
    cache.get("c")
    assert cache.keys() == ["a", "b", "c"]
    cache.put("d", "D")
    assert cache.keys() == ["b", "c", "d"]


def test_overwriting_is_use():
    cache = filled("a", "b", "c")
    cache.put("a", "again")
    assert cache.keys() == ["b", "c", "a"]
    cache.put("d", "D")
    assert cache.keys() == ["c", "a", "d"]
    assert cache.peek("a") == "again"


def test_without_reads_the_first_in_goes():
    cache = filled("a", "b", "c", "d", "e")
    assert cache.keys() == ["c", "d", "e"]
    assert cache.evicted == 2


def test_looking_is_not_use():
    cache = filled("a", "b", "c")
    assert cache.peek("a") == "A"
    assert "a" in cache
    assert cache.get("nothing") is None
    assert cache.keys() == ["a", "b", "c"]
    cache.put("d", "D")
    assert "a" not in cache
    assert (cache.hits, cache.misses) == (0, 1)


def test_long_run():
    cache = filled("a", "b", "c", capacity=3)
    for step in ["a", "+d", "b", "a", "+e", "d", "+f", "a", "+b"]:
        if step.startswith("+"):
            cache.put(step[1:], step)
        else:
            cache.get(step)
    assert cache.keys() == ["d", "f", "b"]
    assert (cache.hits, cache.misses, cache.evicted) == (3, 2, 4)


def test_remember_keeps_what_is_in_use():
    calls = []
    shout = remember(lambda text: calls.append(text) or text.upper(), capacity=2)
    for text in ["a", "b", "a", "c", "a"]:
        assert shout(text) == text.upper()
    assert calls == ["a", "b", "c"]


def test_capacity_is_checked():
    with pytest.raises(ValueError):
        ShelfCache(0)
