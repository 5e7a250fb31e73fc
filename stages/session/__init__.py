"""Session stamps: what the serving side was during a trial, and whether that lies inside the envelope."""

from stages.session.envelope import violation
from stages.session.local import local_stamp, server_id
from stages.session.log import parse_stamp

__all__ = ["local_stamp", "parse_stamp", "server_id", "violation"]
