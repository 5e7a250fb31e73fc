"""Figures about a library."""
from cuebox import library as lib


def tracks_of(library, artist: str) -> int:
    """How many tracks of an artist there are."""
    return len(lib.tracks_by_artist(library, artist))


def time_by_artist(library) -> dict:
    """Seconds of music by artist."""
    artists = {track.artist for track in library}
    return {artist: lib.running_time(lib.tracks_by_artist(library, artist)) for artist in artists}


def known(library, titles: list) -> list:
    """Those of the titles that the library has."""
    result = []
    for title in titles:
        try:
            lib.find_track(library, title)
        except lib.TrackError:
            continue
        result.append(title)
    return result
