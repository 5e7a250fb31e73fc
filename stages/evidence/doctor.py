"""What this machine gives: isolation, limits, versions, and what would give better ones."""

from __future__ import annotations

import os
import platform
import shutil
from typing import Any

from stages.contract.bill import PACKAGES, installed_version
from stages.sandbox import find


def examine_machine() -> dict[str, Any]:
    """Tier, limits with whether each is enforced, versions, advice."""
    isolation = find("auto")
    advice = []
    if isolation.tier == "none":
        advice.append(
            "agents can read the oracle here, so decisions are withheld as not_isolated; allow user namespaces"
            " (sysctl kernel.unprivileged_userns_clone=1, or user.max_user_namespaces above 0; in a container,"
            " a profile that permits them), then run this again"
        )
    advice += [f"{name}: {held}" for name, held in sorted(isolation.enforced.items()) if held is not True]
    return {
        "isolation": isolation.tier,
        "why": isolation.why,
        "enforced": {name: held for name, held in sorted(isolation.enforced.items()) if held is True},
        "advice": advice,
        "cores": os.cpu_count(),
        "user": "root" if os.geteuid() == 0 else "an ordinary user",
        "git": shutil.which("git") is not None,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "packages": {name: installed_version(name) for name in PACKAGES},
    }
