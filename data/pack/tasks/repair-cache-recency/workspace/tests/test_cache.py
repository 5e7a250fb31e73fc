from shelfcache import ShelfCache, remember


def test_entry_just_read_is_kept():
    cache = ShelfCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("b") == 2
    cache.put("c", 3)
    assert "b" in cache
    assert "a" not in cache


def test_single_entry_is_replaced():
    cache = ShelfCache(1)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.keys() == ["b"]
    assert cache.evicted == 1


def test_hits_and_misses_are_counted():
    cache = ShelfCache(2)
    cache.put("a", 1)
    assert cache.get("a") == 1
    assert cache.get("x", "none") == "none"
    assert (cache.hits, cache.misses) == (1, 1)


def test_overwriting_keeps_the_size():
    cache = ShelfCache(2)
    cache.put("a", 1)
    cache.put("a", 5)
    assert len(cache) == 1
    assert cache.peek("a") == 5


def test_remember_calls_once():
    calls = []
    shout = remember(lambda text: calls.append(text) or text.upper())
    assert [shout("hi"), shout("hi")] == ["HI", "HI"]
    assert calls == ["hi"]
