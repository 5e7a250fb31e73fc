"""Session stamps: what the serving side was during a trial, and whether that lies inside the envelope."""

from stages.session.ending import provider_error
from stages.session.envelope import allowed_server, first_violation, violations
from stages.session.local import local_stamp, server_id
from stages.session.log import parse_stamp, parse_stamps
from stages.session.providers import PROVIDERS, agent_variables
from stages.session.summary import stamp_of

__all__ = [
    "PROVIDERS",
    "agent_variables",
    "allowed_server",
    "first_violation",
    "local_stamp",
    "parse_stamp",
    "parse_stamps",
    "provider_error",
    "server_id",
    "stamp_of",
    "violations",
]
