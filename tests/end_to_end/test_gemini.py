"""`kesoku chat` as a real process against a loopback Gemini, with only the key and the base URL set."""

import json
import signal
import sqlite3
import time
from contextlib import closing

import pytest

from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Answer, Call, Hang, Say, Think, rate_limited
from kesoku.testing.waiting import becomes

from .conftest import Home

pytestmark = pytest.mark.slow


def left_behind(home: Home) -> bytes:
    """Everything that Kesoku keeps: database, log, files."""
    return b"".join(path.read_bytes() for path in home.database.parent.rglob("*") if path.is_file())


def test_thoughts_and_text(home: Home, gemini: LoopbackGemini) -> None:
    gemini.script(Answer(Think("I recall my **maps**."), Say("It is Lima 🇵🇪.")))
    done = home.run("chat", "What is the capital of Peru?")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "It is Lima 🇵🇪.\n"
    assert "[thought] I recall my **maps**." in done.stderr
    (request,) = gemini.requests
    assert request.body["contents"][-1]["parts"][-1]["text"].endswith("What is the capital of Peru?")


def test_a_tool_round_returns_the_signature(home: Home, gemini: LoopbackGemini) -> None:
    gemini.script(Answer(Think("I count."), Call("calculate", {"expression": "6*7"})), Answer(Say("It is 42.")))
    events = home.events("How much?")
    kinds = [event["type"] for event in events if event["type"] in {"thought", "call", "result", "answer"}]
    assert kinds == ["thought", "call", "result", "answer"]
    first, second = gemini.requests
    assert (first.refused, second.refused) == (None, None)
    (call,) = [part for content in second.body["contents"] for part in content["parts"] if "function_call" in part]
    assert call["thought_signature"]
    (result,) = [
        part for content in second.body["contents"] for part in content["parts"] if "function_response" in part
    ]
    assert result["function_response"]["response"] == {"output": "42"}


def test_a_wrong_key_is_told_with_its_cure_and_never_shown(home: Home, gemini: LoopbackGemini) -> None:  # N-15 K-147
    home.environment["GEMINI_API_KEY"] = secret = "AIzaSyWrongAndSecret0123456789"
    done = home.run("chat", "hello")
    assert done.returncode == 1
    told, *_ = done.stderr.splitlines()
    assert "the API key was rejected" in told
    assert "give it a valid one" in told
    assert "offline" not in done.stdout  # a wrong key never falls back
    assert len(gemini.requests) == 1
    with closing(sqlite3.connect(home.database)) as connection:
        posted = connection.execute("SELECT kind, role, author, status FROM messages ORDER BY seq").fetchall()
    assert [kind for kind, *_ in posted] == ["user_prompt", "answer"]
    assert posted[0][3] == "error"
    assert posted[1][1:] == ("assistant", "Kesoku", "delivered")
    assert secret not in done.stdout + done.stderr
    assert secret.encode() not in left_behind(home)


def test_a_rate_limit_is_waited_for(home: Home, gemini: LoopbackGemini) -> None:
    gemini.script(rate_limited(seconds=1), Answer(Say("now it works")))
    started = time.monotonic()
    done = home.run("chat", "hello")
    assert time.monotonic() - started > 1
    assert (done.returncode, done.stdout) == (0, "now it works\n")
    assert len(gemini.requests) == 2


def test_a_cut_answer_goes_on_in_one_stream(home: Home, gemini: LoopbackGemini) -> None:  # complaint 64
    cut = Answer(Think("I count."), Say("one, two, th"), finish="MAX_TOKENS", gap=0.02)
    gemini.script(cut, Answer(Think("Three."), Say("ree, four"), gap=0.02))
    done = home.run("chat", "count")
    assert (done.returncode, done.stdout) == (0, "one, two, three, four\n")
    assert done.stderr.count("[thought]") == 2


def test_a_blocked_answer_is_an_error(home: Home, gemini: LoopbackGemini) -> None:  # complaint 69
    gemini.script(Answer(Say("never mind"), finish="RECITATION"))
    done = home.run("chat", "recite")
    assert done.returncode == 1
    assert "withheld the answer: the answer repeated a protected text (RECITATION). Ask for a summary" in done.stderr


def test_ctrl_c_hangs_up(home: Home, gemini: LoopbackGemini) -> None:
    gemini.script(Answer(Say("a beginning"), then=Hang()))
    process = home.start("chat", "hello")
    assert process.stdout is not None
    assert process.stdout.read(3) == "a b"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    becomes(lambda: gemini.left)


def test_doctor_asks_every_model_and_names_the_cures(home: Home, gemini: LoopbackGemini) -> None:  # K-147
    home.environment |= {"NO_GCE_CHECK": "true", "PAID_KEY": "AIzaSyWrongAndSecret0123456789"}
    (home.work / "config.toml").write_text(
        """
        [models.paid]
        type = "gemini"
        api_key = { env = "PAID_KEY" }
        [models.cloud]
        type = "gemini"
        vertex = true
        project = "p"
        """,
        encoding="utf-8",
    )
    done = home.run("doctor")
    assert done.returncode == 1
    assert "ok      models.gemini: gemini-3.5-flash at http://127.0.0.1:" in done.stdout
    assert "ERROR   models.paid: model paid: the API key was rejected" in done.stdout
    assert "ERROR   models.cloud: model cloud: no usable Google Cloud credentials" in done.stdout
    assert "        fix: run `gcloud auth application-default login`" in done.stdout
    assert "AIzaSy" not in done.stdout + done.stderr


def test_ctrl_c_right_behind_the_question_withdraws_it(home: Home, gemini: LoopbackGemini) -> None:
    gemini.script(Hang())
    process = home.start("chat", "--json", "hello")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["type"] == "prompt"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=120) == 130
    with closing(sqlite3.connect(home.database)) as connection:
        assert connection.execute("SELECT status FROM messages").fetchall() == [("interrupted",)]
