"""Write values as JSON."""
import json


def to_text(value) -> str:
    """JSON text, with the keys in order."""
    return json.dumps(value, sort_keys=True)
