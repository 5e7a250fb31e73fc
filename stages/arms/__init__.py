"""What happens in a campaign: trials in the registered order, a journal that loses none, the campaign's record."""

from stages.arms.campaign import run_campaign
from stages.arms.trial import Setting, run_trial

__all__ = ["Setting", "run_campaign", "run_trial"]
