"""What is sent to a shell and is no command of its own: control keys, polls, input, and the tools of an editor."""

from __future__ import annotations

import re
from typing import Final

#: `C-c`, `^C`, named keys of terminals: what is pressed, not run.
_KEY: Final = re.compile(r"(?:C|M|S)-.|\^.|UP|DOWN|LEFT|RIGHT|HOME|END|PGUP|PGDN|TAB|ESC|ESCAPE|BS|BSPACE|ENTER", re.I)
_CD: Final = re.compile(r"(?:^|[;&|(]\s*)\s*(?:cd|pushd|popd)\b", re.MULTILINE)
#: Commands of SWE-agent's bundles that edit, show, search or submit: programs of its sandbox, not of a shell's.
_NAMES: Final = """
    open goto scroll_up scroll_down create edit insert append undo_edit set_cursors str_replace_editor
    find_file search_file search_dir filemap view_image submit exit_forfeit skip
    open_site close_site screenshot_site click_mouse double_click_mouse move_mouse drag_mouse type_text scroll_on_page
    execute_script_on_page navigate_back navigate_forward reload_page wait_time press_keys_on_page
    set_browser_window_size get_console_output
    connect_start connect_sendline connect_exec connect_stop debug_start debug_stop debug_step debug_continue
    debug_add_breakpoint debug_exec decompile disassemble
"""
_EDITOR: Final = frozenset(_NAMES.split())
_SEPARATORS: Final = re.compile(r"&&|\|\||[;|]")


def not_a_command(text: str, *, is_input: bool = False) -> str | None:
    """Why this is never run as a command; None where it is one."""
    stripped = text.strip()
    if not stripped:
        return "a poll for more output"
    if is_key(stripped):
        return "a control key"
    return "input to a running command" if is_input else None


def is_key(text: str) -> bool:
    """Whether a text is the name of a key."""
    return _KEY.fullmatch(text.strip()) is not None


def changes_directory(script: str) -> bool:
    """Whether a command may leave its shell elsewhere: then its directory says nothing about where it began."""
    return _CD.search(script) is not None


def editor_command(script: str) -> str | None:
    """The pseudo-command of an editor that an action calls on its first line; None where it calls none."""
    first_line = script.strip().split("\n", 1)[0]
    words = (part.split(maxsplit=1)[:1] for part in _SEPARATORS.split(first_line))
    return next((word for found in words for word in found if word in _EDITOR), None)
