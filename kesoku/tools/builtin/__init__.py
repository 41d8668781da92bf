"""The tools that every bot has."""

from kesoku.tools.builtin.agents import check_mail, send_message, spawn_agent
from kesoku.tools.builtin.arithmetic import calculate
from kesoku.tools.builtin.clock import current_time
from kesoku.tools.builtin.file import edit_file, list_dir, read_file, write_file
from kesoku.tools.builtin.search import search_files
from kesoku.tools.builtin.shell import run_shell_command
from kesoku.tools.tool import Tool

__all__ = [
    "BUILTIN",
    "calculate",
    "check_mail",
    "current_time",
    "edit_file",
    "list_dir",
    "read_file",
    "run_shell_command",
    "search_files",
    "send_message",
    "spawn_agent",
    "write_file",
]

BUILTIN: tuple[Tool, ...] = (
    run_shell_command,
    read_file,
    write_file,
    edit_file,
    list_dir,
    search_files,
    current_time,
    calculate,
    spawn_agent,
    send_message,
    check_mail,
)
"""In the order in which a model sees them."""
