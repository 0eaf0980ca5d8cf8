"""Rules, grants and switches, hooks of a folder, and why a command was allowed."""

from halocline.ports.hooks import Hook as Hook
from halocline.runtime.loosening import SWITCH_WORDS as SWITCH_WORDS
from halocline.runtime.rules.hooks import FolderHooks as FolderHooks
from halocline.services.policy.approval_switches import (
    SWITCH_MEANINGS as SWITCH_MEANINGS,
    SwitchStatus as SwitchStatus,
    summarize_switch as summarize_switch,
)
from halocline.services.policy.audit import ReviewedCall as ReviewedCall
from halocline.services.policy.grants import GivenGrant as GivenGrant, list_grants as list_grants
from halocline.services.policy.rules import (
    Explanation as Explanation,
    PolicyService as PolicyService,
    explain_command as explain_command,
    read_rule_file as read_rule_file,
)
