"""The recorders of a campaign: one for each arm that has a session, started before the first trial."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from stages.arms.line import key_variable
from stages.contract.errors import InputError
from stages.contract.protocol import Arm, Arms
from stages.contract.stamp import AccessTerms
from stages.session import PROVIDERS

if TYPE_CHECKING:
    from stages.session.recorder import Recorder


@contextmanager
def recording(
    arms: Arms, say: Callable[[str], None], only: str | None = None
) -> Iterator[tuple[dict[str, Recorder], dict[str, AccessTerms]]]:
    """Recorders of the arms that have a session (or of the one that `only` names), and the terms that arms point at.

    Raises InputError where an arm's key isn't in this machine's environment, UsageError where the extra is missing.
    """
    recorders: dict[str, Recorder] = {}
    terms: dict[str, AccessTerms] = {}
    secret = os.urandom(32)  # of this run, so that hashes of bodies tell nothing to anybody else
    with ExitStack() as stack:
        for name, arm in (("candidate", arms.candidate), ("control", arms.control)):
            if arm.session is None or only not in (None, name):
                continue
            from stages.session.recorder import Recorder, read_terms

            key = _key(arm, name, arms)
            made = Recorder(arm.session.provider, arm.session.upstream, key, secret=secret)
            recorders[name] = stack.enter_context(made)
            if arm.session.access_terms is not None:
                terms[name] = read_terms(arm.session.access_terms)
            say(f"arm {name}: calls to {made.upstream} are recorded")
        yield recorders, terms


def _key(arm: Arm, name: str, arms: Arms) -> str | None:
    """The key of the arm's provider, from this machine's environment. A provider may need none."""
    assert arm.session is not None
    variable = key_variable(arm)
    if variable is None:
        return None
    for other, one in (("candidate", arms.candidate), ("control", arms.control)):
        if variable in one.env:
            where = f"params.yaml: arms.{other}.env"
            raise InputError(where, f"found {variable}", "no key of a provider's", "only the recorder may see it")
    key = os.environ.get(variable)
    if not key and (arm.session.key_env or PROVIDERS[arm.session.provider].upstream is not None):
        where = f"params.yaml: arms.{name}.session.key_env"
        raise InputError(where, f"{variable} isn't set", "the provider's key in the environment", "export it")
    return key or None
