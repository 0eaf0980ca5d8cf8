"""Folders and files of this machine as surfaces show them."""

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
from halocline.services.problems import find_problems as find_problems
