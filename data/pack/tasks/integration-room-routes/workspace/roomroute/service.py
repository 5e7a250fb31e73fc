"""The service as a whole."""
from roomroute.rooms import NoSuchRoom, Rooms
from roomroute.router import Router
from roomroute.serializer import to_text


class Service:
    """Answers requests about rooms."""

    def __init__(self, rooms: Rooms) -> None:
        self._router = Router()
        self._router.add("/rooms", rooms.show_all)
        self._router.add("/rooms/<int:room>/bookings/<date:day>", rooms.show_day)
        self._router.add("/rooms/<int:room>/days", rooms.count_days)

    def get(self, path: str) -> tuple:
        """Status and text for a path."""
        found = self._router.resolve(path)
        if found is None:
            return 404, to_text({"error": "no such page"})
        handler, params = found
        try:
            return 200, to_text(handler(params))
        except NoSuchRoom:
            return 404, to_text({"error": "no such room"})
