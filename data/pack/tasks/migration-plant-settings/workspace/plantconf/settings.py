"""Settings of a plant."""


class SettingMissing(LookupError):
    """A setting was asked for that isn't there."""

    def __init__(self, key: str):
        super().__init__(f"setting {key} is missing")
        self.key = key


class Settings:
    """Values by key; a callable value is derived from the settings when it is asked for."""

    def __init__(self, values=None):
        self._values = dict(values or {})

    def require(self, key: str):
        """The value of a key; SettingMissing if it isn't set."""
        if key not in self._values:
            raise SettingMissing(key)
        value = self._values[key]
        return value(self) if callable(value) else value

    def keys(self) -> list:
        """The keys that are set, sorted."""
        return sorted(self._values)
