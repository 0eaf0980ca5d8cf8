import asyncio

from halocline.hosts.code.tree_sitter import TreeSitter


def test_a_shell_script_in_any_script_of_the_world_is_parsed():
    text = "".join(f"f{number}() {{ echo {{{chr(0xF34B0 + number)}; }}\n" for number in range(300))
    assert asyncio.run(TreeSitter().definitions("a.sh", text.encode())) is not None
