# wb-canary-ee0b7bcb
import pytest

from cuebox.library import Track, UnknownTrack

LIBRARY = [
    Track("Quay", "Runa", 180),
    Track("Slate", "Tove", 240),
    Track("Umber", "Runa", 90),
]


def test_set_list():
    from cuebox import setlist
    assert setlist.build(LIBRARY, ["umber", "Quay"]) == [LIBRARY[2], LIBRARY[0]]
    with pytest.raises(UnknownTrack):
        setlist.build(LIBRARY, ["Quay", "Vale"])


def test_set_list_time():
    from cuebox import setlist
    assert setlist.total_time(LIBRARY, []) == 0
    assert setlist.total_time(LIBRARY, ["Slate"]) == 240
    assert setlist.total_time(library=LIBRARY, titles=["Slate", "Quay", "Umber"], pause=10) == 530


def test_set_list_fits():
    from cuebox import setlist
    assert setlist.fits(LIBRARY, ["Quay", "Umber"], 275) is True
    assert setlist.fits(LIBRARY, ["Quay", "Umber"], 274) is False


def test_answer():
    from cuebox import radio
    assert radio.answer(LIBRARY, "SLATE") == LIBRARY[1]
    assert radio.answer(LIBRARY, "Runa") == LIBRARY[0]
    assert radio.answer(LIBRARY, "Vale") is None


def test_queue():
    from cuebox import radio
    tracks, unanswered = radio.queue(LIBRARY, ["Runa", "Vale", "quay", "Tove"])
    assert tracks == [LIBRARY[0], LIBRARY[1]]
    assert unanswered == ["Vale"]


def test_number_of_tracks():
    from cuebox import stats
    assert stats.tracks_of(LIBRARY, "Runa") == 2
    assert stats.tracks_of(library=LIBRARY, artist="Vale") == 0


def test_time_by_artist():
    from cuebox import stats
    assert stats.time_by_artist(LIBRARY) == {"Runa": 270, "Tove": 240}


def test_known_titles():
    from cuebox import stats
    assert stats.known(LIBRARY, ["slate", "Vale", "Quay"]) == ["slate", "Quay"]
