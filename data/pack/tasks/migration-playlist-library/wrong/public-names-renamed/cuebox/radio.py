"""Listeners' requests."""
from cuebox.library import UnknownTrack, track_by_title, tracks_by_artist


def answer(library, request: str):
    """The track asked for; else the first one of the artist asked for; else None."""
    try:
        return track_by_title(library, request)
    except UnknownTrack:
        tracks = tracks_by_artist(library, request)
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
