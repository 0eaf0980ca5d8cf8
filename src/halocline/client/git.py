"""The person's git: branches, messages for commits."""

from halocline.git.git_folder import read_branch as read_branch
from halocline.services.commit_message import (
    CommitMessageRequest as CommitMessageRequest,
    CommitMessages as CommitMessages,
)
