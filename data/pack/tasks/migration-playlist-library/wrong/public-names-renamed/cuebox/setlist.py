"""Set lists for an evening."""
from cuebox import library as lib


def build(library, titles: list) -> list:
    """The tracks of the titles, in order; unknown titles raise the library's error."""
    return [lib.track_by_title(library, title) for title in titles]


def running_time(library, titles: list, pause: int = 5) -> int:
    """Seconds the set lasts, with a pause between each two tracks."""
    tracks = build(library, titles)
    if not tracks:
        return 0
    return lib.running_time(tracks) + pause * (len(tracks) - 1)


def fits(library, titles: list, limit: int) -> bool:
    """Whether the set, with its pauses, lasts no longer than the limit."""
    return running_time(library, titles) <= limit
