"""Commits, pushes and pull requests that a person makes of a task's work."""

from halocline.ports.revisions import Committed as Committed, PullRequestPlan as PullRequestPlan, PushPlan as PushPlan
from halocline.services.commits import CommitPlan as CommitPlan
