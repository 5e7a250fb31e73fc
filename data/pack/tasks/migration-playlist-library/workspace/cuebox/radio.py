"""Listeners' requests."""
from cuebox.library import TrackError, find_track, tracks_of


def answer(library, request: str):
    """The track asked for; else the first one of the artist asked for; else None."""
    try:
        return find_track(library, request)
    except TrackError:
        tracks = tracks_of(library, request)
        return tracks[0] if tracks else None


def queue(library, requests: list) -> tuple:
    """Answer requests in order: (tracks, unanswered). No track is played twice."""
    tracks, unanswered = [], []
    for request in requests:
        track = answer(library, request)
        if track is None:
            unanswered.append(request)
        elif track not in tracks:
            tracks.append(track)
    return tracks, unanswered
