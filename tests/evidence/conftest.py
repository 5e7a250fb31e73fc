"""The command line on a copy of a frozen study, as the tests of the commands have it."""

from __future__ import annotations

from tests.cli.conftest import frozen, refuse, template, weighbridge

__all__ = ["frozen", "refuse", "template", "weighbridge"]
