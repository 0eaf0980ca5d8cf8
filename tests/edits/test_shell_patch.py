import pytest
from tests.tables import for_each

from halocline.edits.formats.shell_patch import ShellPatch, shell_patch

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-price = '$5'\n+price = \"`$6`\"\n*** End Patch\n"
QUOTED = PATCH.replace("\\", "\\\\").replace('"', '\\"')


@pytest.mark.parametrize(
    "command",
    [
        f"apply_patch <<'EOF'\n{PATCH}EOF",
        f"apply_patch <<'EOF'\n{PATCH}EOF\n\n",
        f'apply_patch << "PATCH"\n{PATCH}PATCH\n',
        f"applypatch <<EOF\n{PATCH}EOF",
        f"  apply_patch <<'EOF'\r\n{PATCH.replace(chr(10), chr(13) + chr(10))}EOF\r\n",
        f"cat <<'EOF' | apply_patch\n{PATCH}EOF\n",
        f"%%bash\napply_patch <<'EOF'\n{PATCH}EOF\n",
        f"#!/bin/bash\napply_patch <<'EOF'\n{PATCH}EOF\n",
        f"bash -lc \"apply_patch <<'EOF'\n{QUOTED}EOF\"",
        f'/bin/bash -c "apply_patch <<EOF\n{QUOTED}EOF\n"',
        f"apply_patch \"$(cat <<'EOF'\n{PATCH}EOF\n)\"",
        f'apply_patch "{QUOTED}"',
    ],
)
def test_a_patch_is_taken_out_of_the_shell_around_it_as_it_was_written(command: str):
    assert shell_patch(command) == ShellPatch("", PATCH)


def test_a_closing_word_may_be_indented_by_tabs_where_the_shell_allows_it():
    assert shell_patch("apply_patch <<-EOF\n\t*** Begin Patch\n\t*** End Patch\n\tEOF") == ShellPatch(
        "", "*** Begin Patch\n*** End Patch\n"
    )


@pytest.mark.parametrize(
    "command",
    [
        f"cd src/app && apply_patch <<'EOF'\n{PATCH}EOF",
        f"cd 'src/app'; apply_patch <<'EOF'\n{PATCH}EOF",
        f"bash -lc \"cd src/app && apply_patch <<'EOF'\n{QUOTED}EOF\"",
    ],
)
def test_the_folder_that_it_changes_to_first_is_where_its_paths_begin(command: str):
    assert shell_patch(command) == ShellPatch("src/app", PATCH)


@for_each(
    "command",
    [
        "apply_patch < fix.patch",
        "apply_patch --help",
        "patch -p1 <<'EOF'\n--- a\n+++ b\nEOF",
        "git apply <<'EOF'\n--- a\n+++ b\nEOF",
        f"apply_patch <<'EOF'\n{PATCH}EOF\nmake test",
        f"apply_patch <<'EOF' && make\n{PATCH}EOF",
        f"rm -rf build; apply_patch <<'EOF'\n{PATCH}EOF",
        f"apply_patch <<'EOF'\n{PATCH}",
        f"echo \"apply_patch <<'EOF'\n{QUOTED}EOF\"",
        f"cat > notes.txt <<'EOF'\napply_patch <<'X'\n{PATCH}X\nEOF",
        f"cd a && cd b && apply_patch <<'EOF'\n{PATCH}EOF",
        f"cd $HOME && apply_patch <<'EOF'\n{PATCH}EOF",
        f"bash -lc \"apply_patch <<'EOF'\n{QUOTED}EOF\" && rm -rf /",
        f"EOF=1 apply_patch <<'EOF'\n{PATCH}EOF",
        f"apply_patch <<'EOF'\n{PATCH}EOF\n*** Begin Patch\nEOF",
    ],
)
def test_a_command_that_does_anything_else_stays_a_command(command: str):
    assert shell_patch(command) is None
