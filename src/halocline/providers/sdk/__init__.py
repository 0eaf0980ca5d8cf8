"""All other vendors, through the library of the extra `[providers]`."""
