"""Attribution of changes: who changed which file."""
