"""All that surfaces import of Halocline. Programs have `import halocline`, which stands on it.

Each name is loaded from its own module when it is first imported, so that importing one does not load all.
"""

from typing import TYPE_CHECKING

from halocline.lazy_modules import load_names_of

if TYPE_CHECKING:
    from halocline.checkpoints.restore.compare import Comparison as Comparison, FileDifference as FileDifference
    from halocline.checkpoints.restore.restore import Restored as Restored, RestorePlan as RestorePlan
    from halocline.checkpoints.saved import CheckpointInfo as CheckpointInfo
    from halocline.client.client import Client as Client, open_client as open_client
    from halocline.context.user_files.agents import Agent as Agent
    from halocline.context.user_files.mentions import (
        escape_mentions as escape_mentions,
        find_mentions as find_mentions,
        format_mention as format_mention,
    )
    from halocline.edits.diff import make_diff as make_diff
    from halocline.edits.partial import ProposedHunk as ProposedHunk, list_hunks as list_hunks, take_hunks as take_hunks
    from halocline.edits.proposals import ProposedText as ProposedText
    from halocline.edits.text import BinaryContent as BinaryContent, decode_text as decode_text
    from halocline.edits.word_marks import Spans as Spans, mark_changes as mark_changes
    from halocline.git.git_folder import read_branch as read_branch
    from halocline.git.worktrees import open_worktree as open_worktree
    from halocline.importers.foreign_setting import ForeignSetting as ForeignSetting
    from halocline.importers.mcp_servers import OtherServers as OtherServers
    from halocline.importers.programs import IMPORTABLE_PROGRAMS as IMPORTABLE_PROGRAMS
    from halocline.importers.transcript import FoundTranscript as FoundTranscript
    from halocline.mcp.registry.bundles import (
        Bundle as Bundle,
        BundleField as BundleField,
        build_server_entry as build_server_entry,
        describe_bundle as describe_bundle,
        list_wanted_fields as list_wanted_fields,
        name_bundle as name_bundle,
    )
    from halocline.mcp.registry.registry import (
        InstallOption as InstallOption,
        OfferedServer as OfferedServer,
        list_install_options as list_install_options,
    )
    from halocline.ports.editor import CheckedFiles as CheckedFiles, TerminalCommand as TerminalCommand
    from halocline.ports.editor_models import (
        EditorModel as EditorModel,
        EditorModelFailure as EditorModelFailure,
        ReplyPart as ReplyPart,
    )
    from halocline.ports.hooks import Hook as Hook
    from halocline.ports.mcp_servers import Server as Server, ServerEntry as ServerEntry, ServerOwner as ServerOwner
    from halocline.ports.revisions import (
        Committed as Committed,
        PullRequestPlan as PullRequestPlan,
        PushPlan as PushPlan,
    )
    from halocline.runtime.event_batches import MOST_BATCHED as MOST_BATCHED, batch_events as batch_events
    from halocline.runtime.history.edit_conflicts import (
        ConflictingEdits as ConflictingEdits,
        PendingEdit as PendingEdit,
        find_conflicting_edits as find_conflicting_edits,
    )
    from halocline.runtime.history.edits_in_progress import (
        EditDraft as EditDraft,
        EditProgress as EditProgress,
        EditProposal as EditProposal,
        EditSettled as EditSettled,
    )
    from halocline.runtime.history.forks import Fork as Fork
    from halocline.runtime.history.restore_preview import (
        RestorePreview as RestorePreview,
        find_undo_target as find_undo_target,
        list_newest_first as list_newest_first,
        preview_restore as preview_restore,
    )
    from halocline.runtime.history.revert import HunkReversal as HunkReversal, revert_hunk as revert_hunk
    from halocline.runtime.history.snapshots import (
        PastPrompt as PastPrompt,
        Snapshot as Snapshot,
        SnapshotPoint as SnapshotPoint,
    )
    from halocline.runtime.loosening import SWITCH_WORDS as SWITCH_WORDS
    from halocline.runtime.mentions.suggestions import (
        WORD_MEANINGS as WORD_MEANINGS,
        Mentionable as Mentionable,
        list_paths_beside as list_paths_beside,
    )
    from halocline.runtime.models.connection_test import ModelConnection as ModelConnection
    from halocline.runtime.models.efforts import Efforts as Efforts
    from halocline.runtime.models.model_names import NO_CHAT as NO_CHAT
    from halocline.runtime.own_program import refuse_from_task as refuse_from_task
    from halocline.runtime.parts.editor_parts import EditorParts as EditorParts
    from halocline.runtime.prompts.code_actions import (
        CODE_ACTIONS as CODE_ACTIONS,
        CodeAction as CodeAction,
        make_code_action as make_code_action,
    )
    from halocline.runtime.prompts.command_files import MCP_PREFIX as MCP_PREFIX, SlashEntry as SlashEntry
    from halocline.runtime.prompts.handover import format_handover as format_handover
    from halocline.runtime.prompts.mcp_prompts import list_prompts as list_prompts
    from halocline.runtime.prompts.output_schema import read_schema as read_schema
    from halocline.runtime.prompts.slash_commands import (
        SLASH_COMMANDS as SLASH_COMMANDS,
        SlashCommand as SlashCommand,
        SlashPlace as SlashPlace,
        split_slash_command as split_slash_command,
    )
    from halocline.runtime.read_only_home import refuse_unwritable_home as refuse_unwritable_home
    from halocline.runtime.rules.hooks import FolderHooks as FolderHooks
    from halocline.runtime.rules.memory import (
        Memory as Memory,
        MemoryFile as MemoryFile,
        MemoryNote as MemoryNote,
        parse_note as parse_note,
    )
    from halocline.runtime.task_options import Choices as Choices, TaskOptions as TaskOptions
    from halocline.services.commit_message import (
        CommitMessageRequest as CommitMessageRequest,
        CommitMessages as CommitMessages,
    )
    from halocline.services.commits import CommitPlan as CommitPlan
    from halocline.services.config_files import (
        ConfigFile as ConfigFile,
        ConfigFiles as ConfigFiles,
        ConfigText as ConfigText,
    )
    from halocline.services.doctor.doctor import check_model as check_model, run_checks as run_checks
    from halocline.services.doctor.finding import Finding as Finding
    from halocline.services.file_reader import (
        FileLines as FileLines,
        FolderEntries as FolderEntries,
        FoundFile as FoundFile,
    )
    from halocline.services.folders import (
        FolderListing as FolderListing,
        GitStatus as GitStatus,
        Workspace as Workspace,
        inspect_git as inspect_git,
        list_folder as list_folder,
        list_workspaces as list_workspaces,
    )
    from halocline.services.import_settings import SettingsImport as SettingsImport
    from halocline.services.imports import (
        ImportResult as ImportResult,
        ImportService as ImportService,
        TranscriptStatus as TranscriptStatus,
    )
    from halocline.services.instructions import (
        InstructionService as InstructionService,
        InstructionVerdict as InstructionVerdict,
        ListedInstruction as ListedInstruction,
    )
    from halocline.services.mcp.details import (
        ServerDetail as ServerDetail,
        ServerService as ServerService,
        ToolResponse as ToolResponse,
    )
    from halocline.services.mcp.servers import (
        ListedServer as ListedServer,
        McpService as McpService,
        describe_server_entry as describe_server_entry,
    )
    from halocline.services.mcp.trials import ServerTrial as ServerTrial
    from halocline.services.models.accounts import Account as Account, Accounts as Accounts, StoredKey as StoredKey
    from halocline.services.models.model_list import OfferedModel as OfferedModel
    from halocline.services.models.servers import (
        TriedServer as TriedServer,
        check_address as check_address,
        save_address as save_address,
        save_server as save_server,
        try_server as try_server,
    )
    from halocline.services.plugins import ListedPlugin as ListedPlugin, PluginService as PluginService
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
    from halocline.services.problems import find_problems as find_problems
    from halocline.services.replay.replay import Replay as Replay
    from halocline.services.settings import Setting as Setting, SettingsService as SettingsService
    from halocline.services.storage import (
        PrunePlan as PrunePlan,
        Storage as Storage,
        measure_storage as measure_storage,
        plan_pruning as plan_pruning,
        prune_storage as prune_storage,
    )
    from halocline.services.usage_stats import (
        Amount as Amount,
        UsageStats as UsageStats,
        collect_stats as collect_stats,
    )
    from halocline.store.mcp.servers import check_name as check_name, read_given_servers as read_given_servers
    from halocline.store.web_sessions import Browsers as Browsers
    from halocline.task.updates.unseen_images import BLIND as BLIND

_PLACES = {
    "git.git_folder": "read_branch",
    "runtime.prompts.handover": "format_handover",
    "ports.mcp_servers": "Server ServerEntry ServerOwner",
    "services.usage_stats": "Amount UsageStats collect_stats",
    "git.worktrees": "open_worktree",
    "store.mcp.servers": "check_name read_given_servers",
    "store.web_sessions": "Browsers",
    "task.updates.unseen_images": "BLIND",
    "checkpoints.restore.compare": "Comparison FileDifference",
    "checkpoints.restore.restore": "RestorePlan Restored",
    "checkpoints.saved": "CheckpointInfo",
    "client.client": "Client open_client",
    "context.user_files.agents": "Agent",
    "context.user_files.mentions": "escape_mentions find_mentions format_mention",
    "edits.diff": "make_diff",
    "edits.partial": "ProposedHunk list_hunks take_hunks",
    "edits.proposals": "ProposedText",
    "edits.text": "BinaryContent decode_text",
    "edits.word_marks": "Spans mark_changes",
    "importers.mcp_servers": "OtherServers",
    "importers.foreign_setting": "ForeignSetting",
    "importers.programs": "IMPORTABLE_PROGRAMS",
    "importers.transcript": "FoundTranscript",
    "mcp.registry.bundles": "Bundle BundleField build_server_entry describe_bundle list_wanted_fields name_bundle",
    "mcp.registry.registry": "InstallOption OfferedServer list_install_options",
    "ports.editor": "CheckedFiles TerminalCommand",
    "ports.editor_models": "EditorModel EditorModelFailure ReplyPart",
    "ports.hooks": "Hook",
    "ports.revisions": "Committed PullRequestPlan PushPlan",
    "runtime.parts.editor_parts": "EditorParts",
    "runtime.event_batches": "MOST_BATCHED batch_events",
    "runtime.history.edit_conflicts": "ConflictingEdits PendingEdit find_conflicting_edits",
    "runtime.history.edits_in_progress": "EditDraft EditProgress EditProposal EditSettled",
    "runtime.history.forks": "Fork",
    "runtime.history.restore_preview": "RestorePreview find_undo_target list_newest_first preview_restore",
    "runtime.history.revert": "HunkReversal revert_hunk",
    "runtime.history.snapshots": "PastPrompt Snapshot SnapshotPoint",
    "runtime.models.model_names": "NO_CHAT",
    "runtime.loosening": "SWITCH_WORDS",
    "runtime.mentions.suggestions": "Mentionable WORD_MEANINGS list_paths_beside",
    "runtime.models.connection_test": "ModelConnection",
    "runtime.models.efforts": "Efforts",
    "runtime.own_program": "refuse_from_task",
    "runtime.prompts.code_actions": "CODE_ACTIONS CodeAction make_code_action",
    "runtime.prompts.command_files": "MCP_PREFIX SlashEntry",
    "runtime.prompts.mcp_prompts": "list_prompts",
    "runtime.prompts.output_schema": "read_schema",
    "runtime.prompts.slash_commands": "SLASH_COMMANDS SlashCommand SlashPlace split_slash_command",
    "runtime.read_only_home": "refuse_unwritable_home",
    "runtime.rules.hooks": "FolderHooks",
    "runtime.rules.memory": "Memory MemoryFile MemoryNote parse_note",
    "runtime.task_options": "Choices TaskOptions",
    "services.commit_message": "CommitMessageRequest CommitMessages",
    "services.commits": "CommitPlan",
    "services.config_files": "ConfigFile ConfigFiles ConfigText",
    "services.doctor.doctor": "check_model run_checks",
    "services.doctor.finding": "Finding",
    "services.file_reader": "FileLines FolderEntries FoundFile",
    "services.folders": "FolderListing GitStatus Workspace inspect_git list_folder list_workspaces",
    "services.imports": "ImportResult ImportService TranscriptStatus",
    "services.instructions": "InstructionService InstructionVerdict ListedInstruction",
    "services.mcp.details": "ServerDetail ServerService ToolResponse",
    "services.mcp.servers": "ListedServer McpService describe_server_entry",
    "services.mcp.trials": "ServerTrial",
    "services.models.accounts": "Account Accounts StoredKey",
    "services.models.model_list": "OfferedModel",
    "services.models.servers": "TriedServer check_address save_address save_server try_server",
    "services.policy.approval_switches": "SWITCH_MEANINGS SwitchStatus summarize_switch",
    "services.policy.audit": "ReviewedCall",
    "services.policy.grants": "GivenGrant list_grants",
    "services.policy.rules": "Explanation PolicyService explain_command read_rule_file",
    "services.problems": "find_problems",
    "services.replay.replay": "Replay",
    "services.import_settings": "SettingsImport",
    "services.plugins": "ListedPlugin PluginService",
    "services.settings": "Setting SettingsService",
    "services.storage": "PrunePlan Storage measure_storage plan_pruning prune_storage",
}
"""The public names of each module. The imports above say the same to type checkers."""
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

if not TYPE_CHECKING:  # so that type checkers report names that are not there
    __getattr__ = load_names_of(__name__, _MODULES)
