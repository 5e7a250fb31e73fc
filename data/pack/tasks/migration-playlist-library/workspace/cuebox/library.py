"""A library of recorded tracks."""
from typing import NamedTuple


class UnknownTrack(LookupError):
    """There is no track of that title."""


class Track(NamedTuple):
    title: str
    artist: str
    seconds: int


def track_by_title(library, title):
    """The track of a title (letter case doesn't matter)."""
    for track in library:
        if track.title.lower() == title.lower():
            return track
    raise UnknownTrack(title)


def tracks_by_artist(library, artist):
    """All tracks of an artist, in the library's order."""
    return [track for track in library if track.artist == artist]


def running_time(tracks):
    """Seconds that the tracks last together."""
    return sum(track.seconds for track in tracks)
