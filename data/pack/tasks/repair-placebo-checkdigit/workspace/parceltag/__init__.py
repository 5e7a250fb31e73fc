"""Tags of parcels."""

from parceltag.digits import check_digit
from parceltag.tags import is_valid, make_tag

__all__ = ["check_digit", "is_valid", "make_tag"]
