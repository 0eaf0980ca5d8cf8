"""OpenAI's chat completions API, which most servers speak."""
