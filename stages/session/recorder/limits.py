"""What the recorder takes, keeps and waits for."""

from __future__ import annotations

MAX_REQUEST_BYTES = 64_000_000  # a request's body; a larger one is refused
MAX_KEPT_BYTES = 8_000_000  # of an answer's body, until it is read; the rest passes and is `cut`
MAX_HEADER_BYTES = 64_000  # of one line, in either direction
MAX_HEADERS = 1000  # of a request
MAX_TRIAL_BYTES = 256_000_000  # of all bodies of one trial that are in memory at a time
MAX_CONNECTIONS = 256  # of one trial at a time
MAX_CALLS = 20_000  # of one attempt
MAX_TRIALS = 1000  # at a time, where they are told apart by path: anybody can name one
CONNECT_S = 30.0  # name, route and TLS
IDLE_S = 900.0  # between two pieces of an answer, and until its headers
HEAD_S = 60.0  # until a connection's request is there with its headers, and between two requests
BODY_S = 120.0  # between two pieces of a request
