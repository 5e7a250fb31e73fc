"""Session stamps: what the serving side was during a trial, and whether that lies inside the envelope."""

from stages.session.envelope import violations
from stages.session.local import local_stamp, server_id
from stages.session.log import parse_stamp, parse_stamps

__all__ = ["local_stamp", "parse_stamp", "parse_stamps", "server_id", "violations"]
