"""What happens in a campaign: trials in the registered order, a journal that loses none, the campaign's record."""

from stages.arms.campaign import Judge, refuse_trial, rows_of
from stages.arms.conduct import Campaign, conduct, recorded
from stages.arms.journal import Finished, Journal, plan_lock
from stages.arms.record import changed_pack, earlier_campaigns, looks_before
from stages.arms.recording import recording
from stages.arms.replay import replayed, start_trial, unpredicted
from stages.arms.trial import ArmName, Setting, prepare, run_trial

__all__ = [
    "ArmName",
    "Campaign",
    "Finished",
    "Journal",
    "Judge",
    "Setting",
    "changed_pack",
    "conduct",
    "earlier_campaigns",
    "looks_before",
    "plan_lock",
    "prepare",
    "recorded",
    "recording",
    "refuse_trial",
    "replayed",
    "rows_of",
    "run_trial",
    "start_trial",
    "unpredicted",
]
