"""Secrets of the environment: known by their variable's name, and kept from the tools."""

import subprocess
import sys

import pytest

from kesoku.app.secret import of_environment


def test_what_a_name_calls_secret_is_masked() -> None:
    environment = {"GEMINI_API_KEY": "abcdefgh1", "BOT_TOKEN": "ijklmnop2", "HOME": "/home/ada", "DB_PASSWORD": "x"}
    assert of_environment(environment) == {"abcdefgh1", "ijklmnop2"}


def test_the_path_of_a_key_file_is_no_secret() -> None:
    assert not of_environment({"GOOGLE_APPLICATION_CREDENTIALS": "/etc/kesoku/login.json"})


@pytest.mark.skipif(sys.platform != "linux", reason="a promise of the Linux kernel")
def test_a_concealed_process_is_closed_to_other_programs_of_its_user() -> None:
    code = (
        "import ctypes\n"
        "from kesoku.app.secret import conceal\n"
        "before = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)\n"
        "conceal()\n"
        "print(before, ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 0\n"
