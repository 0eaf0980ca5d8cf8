"""Stored tasks: sizes, pruning, statistics; signed-in browsers; the program's own log."""

from halocline.runtime.error_log import print_json_log as print_json_log
from halocline.services.metrics import CONTENT_TYPE as CONTENT_TYPE, MetricsCollector as MetricsCollector
from halocline.services.report import write_report as write_report
from halocline.services.storage import (
    PrunePlan as PrunePlan,
    Storage as Storage,
    measure_storage as measure_storage,
    plan_pruning as plan_pruning,
    prune_storage as prune_storage,
)
from halocline.services.usage_stats import Amount as Amount, UsageStats as UsageStats, collect_stats as collect_stats
from halocline.store.web_sessions import Browsers as Browsers
