import pytest

from cuebox.library import Track, UnknownTrack, running_time, track_by_title

LIBRARY = [Track("Dune", "Ola", 200), Track("Ember", "Ola", 100), Track("Frost", "Per", 60)]


def test_library_lookup():
    assert track_by_title(LIBRARY, "frost").seconds == 60
    with pytest.raises(UnknownTrack):
        track_by_title(LIBRARY, "Gale")


def test_library_time():
    assert running_time(LIBRARY) == 360


def test_set_list_time():
    from cuebox import setlist
    assert setlist.total_time(LIBRARY, ["Frost", "Dune"]) == 265


def test_requests():
    from cuebox import radio
    assert radio.answer(LIBRARY, "ember") == LIBRARY[1]
    assert radio.answer(LIBRARY, "Per") == LIBRARY[2]


def test_number_of_tracks():
    from cuebox import stats
    assert stats.tracks_of(LIBRARY, "Ola") == 2
