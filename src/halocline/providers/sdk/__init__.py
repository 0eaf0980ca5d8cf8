"""All other vendors, through the pydantic-ai library of the extra `[providers]`."""
