"""Search of tools by words: the ranking behind `find_tools`. Pure."""

from collections.abc import Sequence

from halocline.protocol.events.mcp import McpTool


def rank_tools(tools: Sequence[McpTool], query: str) -> list[McpTool]:
    """Sort the tools that share words with the query: more and rarer words first; names count most."""
    words = [word for word in _split_words(query) if len(word) > 1]
    texts = {tool.name: (_split_words(f"{tool.server} {tool.tool}"), _split_words(tool.description)) for tool in tools}
    weight = {word: 1 / (1 + sum(_has_word(word, name + about) for name, about in texts.values())) for word in words}

    def score(tool: McpTool) -> float:
        name, about = texts[tool.name]
        return sum(weight[word] * (3 * _has_word(word, name) + _has_word(word, about)) for word in words)

    scored = [(score(tool), tool) for tool in tools]
    return [tool for points, tool in sorted(scored, key=lambda pair: -pair[0]) if points > 0 or not words]


def _has_word(word: str, texts: list[str]) -> bool:
    return any(word == each or (min(len(word), len(each)) > 2 and (word in each or each in word)) for each in texts)


def _split_words(text: str) -> list[str]:
    return "".join(sign.lower() if sign.isalnum() else " " for sign in text).split()
