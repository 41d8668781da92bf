"""What a prompt asks for is stored with it, and shows nowhere else."""

import pytest

from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import message_from_dict
from kesoku.messages.message import Message
from kesoku.messages.profile import NONE, Profile, profile_of
from kesoku.messages.record import Address, Record
from kesoku.messages.source import UserSource, source_from_dict

HERE, THERE = (Address(chatbot_id="discord", channel_id=name) for name in ("here", "there"))
COOK = Profile(model="pro", role="cook")


class Session:
    """What was said, in memory."""

    def __init__(self, *said: tuple[Message, Address]) -> None:
        self.records = [
            Record(message=message, address=at, session_id="s1", status=MessageStatus.PROCESSED, seq=n, session_n=n)
            for n, (message, at) in enumerate(said, start=1)
        ]

    def last_said(self, address: Address, *, before: int | None = None) -> Record | None:
        said = (each for each in reversed(self.records[: before and before - 1]) if each.address == address)
        return next((each for each in said if isinstance(each.message.source, UserSource)), None)


def asked(profile: Profile = NONE) -> Message:
    return make.user_prompt("hi", author="Ada", user_id="1", model=profile.model, role=profile.role)


def test_it_is_stored_and_an_empty_one_is_left_out() -> None:
    with_both, without = asked(COOK), asked()
    assert with_both.source.to_dict() == {"kind": "user", "user_id": "1", "model": "pro", "role": "cook"}
    assert without.source.to_dict() == {"kind": "user", "user_id": "1"}
    assert message_from_dict(with_both.to_dict()) == with_both
    assert source_from_dict({"kind": "user", "user_id": "1"}) == UserSource(user_id="1")


def test_a_row_does_not_show_it() -> None:
    (one,), (other,) = (Session((asked(each), HERE)).records for each in (COOK, NONE))
    assert one.metadata == {}
    assert one.to_row() == other.to_row() | {"id": one.id}


def test_an_edited_or_repeated_prompt_asks_for_the_same() -> None:
    for again in (asked(COOK).update(text="other"), asked(COOK).clone()):
        (record,) = Session((again, HERE)).records
        assert profile_of(record, Session()) == COOK


def test_a_person_decides_even_by_asking_for_nothing() -> None:
    said = Session((asked(COOK), HERE), (asked(), HERE))
    assert profile_of(said.records[1], said) == NONE


@pytest.mark.parametrize(
    "opener", [make.compaction_prompt(), make.mail_note("x"), make.cron_prompt("x"), make.task("x")]
)
def test_what_nobody_said_is_as_the_last_words_of_a_person_in_its_channel(opener: Message) -> None:
    said = Session((asked(), HERE), (asked(COOK), HERE), (asked(), THERE), (opener, HERE), (asked(), HERE))
    assert profile_of(said.records[3], said) == COOK
    assert profile_of(Session((opener, HERE)).records[0], said) == NONE
