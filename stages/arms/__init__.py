"""What happens in a campaign: trials in the registered order, a journal that loses none, the campaign's record."""

from stages.arms.campaign import Judge, rows_of
from stages.arms.conduct import Campaign, conduct, recorded
from stages.arms.journal import Finished, Journal, journal_folder, plan_lock
from stages.arms.record import changed_pack
from stages.arms.trial import Setting, prepare, run_trial

__all__ = [
    "Campaign",
    "Finished",
    "Journal",
    "Judge",
    "Setting",
    "changed_pack",
    "conduct",
    "journal_folder",
    "plan_lock",
    "prepare",
    "recorded",
    "rows_of",
    "run_trial",
]
