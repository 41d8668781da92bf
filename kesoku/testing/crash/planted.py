"""Runs with a planted fault, each with the invariant that must report it: they show that the kit can find something."""

from dataclasses import dataclass

from kesoku.testing.crash.fault import (
    BOT,
    AckFirst,
    CursorFirst,
    NoKeys,
    NoRecovery,
    RowFirst,
    SkippingListener,
    Slow,
    TwoCommits,
    Unannounced,
    Uncounted,
    Unfenced,
    UnfencedFinish,
    Unmarked,
    buries_the_living,
    new_keys,
    no_index_and_some_prompts,
    some_prompts,
)
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.watch import Action, Point, Side, Tripwire
from kesoku.testing.crash.wiring import Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A fault, the promise that it breaks, and where a process dies or stops so that this shows soon."""

    rule: str
    wiring: Wiring
    tripwire: Tripwire
    kills: int = 4
    """Enough to find it; most need one."""
    patience: float = 10.0
    """As in a plan."""

    def plan(self, seed: int) -> Plan:
        """The run that finds it."""
        return Plan(
            seed=seed,
            kills=self.kills,
            workers=2,
            platforms=(Platform(BOT),),
            stops=0,
            poison=0,
            speed=40.0,
            patience=self.patience,
            tripwires=(self.tripwire,),
            wiring=self.wiring,
        )


def _at(name: str, part: str, side: Side = Side.AFTER, *, nth: int = 1, action: Action = Action.KILL) -> Tripwire:
    return Tripwire(point=Point(name, side), nth=nth, action=action, part=part)


_WORKER, _HOST, _POSTER = "worker-0", BOT, "poster"

PLANTED = {
    "ack before commit": Planted(
        rule="I1",
        wiring=Wiring(gateway=AckFirst),
        tripwire=_at("StoreGateway.accept", _POSTER, Side.BEFORE, nth=2),
    ),
    "cursor before messages": Planted(
        rule="I1",
        wiring=Wiring(gateway=CursorFirst),
        tripwire=_at("CursorFirst.accept", _HOST, nth=2),
    ),
    "no dedup by key": Planted(
        rule="I2",
        wiring=Wiring(store=NoKeys),
        tripwire=_at("StoreGateway.accept", _POSTER, nth=5),
    ),
    "no fence at the end, and no index": Planted(
        rule="I3",
        wiring=Wiring(gateway=UnfencedFinish, model=Slow, prepare=no_index_and_some_prompts),
        tripwire=_at("StoreGateway.finish", _WORKER, Side.ASKED, action=Action.STOP),
        kills=0,
    ),
    "finish in two commits": Planted(
        rule="I4",
        wiring=Wiring(gateway=TwoCommits),
        tripwire=_at("StoreGateway.move", _WORKER),
    ),
    "recovery buries the living": Planted(
        rule="I6",
        wiring=Wiring(gateway=buries_the_living, model=Slow),
        tripwire=_at("Claiming.claims", _WORKER, nth=5),
    ),
    "no fence": Planted(
        rule="I7",
        wiring=Wiring(store=Unfenced, model=Slow, prepare=some_prompts),
        tripwire=_at("model", _WORKER, action=Action.STOP),
        kills=0,
    ),
    "no recovery": Planted(
        rule="I8",
        wiring=Wiring(gateway=NoRecovery, prepare=some_prompts),
        tripwire=_at("StoreGateway.finish", _WORKER, Side.BEFORE),
        kills=1,
        patience=3.0,
    ),
    "sent before the ledger knows": Planted(
        rule="I9",
        wiring=Wiring(store=Unannounced),
        tripwire=_at("send", _HOST),
    ),
    "sent once more without a mark": Planted(
        rule="I9",
        wiring=Wiring(store=Unmarked),
        tripwire=_at("send", _HOST),
    ),
    "a new key each time": Planted(
        rule="I9",
        wiring=Wiring(manifest=new_keys),
        tripwire=_at("send", _HOST),
    ),
    "a listener that skips": Planted(
        rule="I11",
        wiring=Wiring(gateway=SkippingListener),
        tripwire=_at("StoreGateway.step", _WORKER),
    ),
    "crashes not counted": Planted(
        rule="I12",
        wiring=Wiring(store=Uncounted),
        tripwire=_at("StoreGateway.step", _WORKER),
    ),
    "row before its file": Planted(
        rule="I13",
        wiring=Wiring(staging=RowFirst),
        tripwire=_at("StoreGateway.respond", _WORKER),
        kills=8,
    ),
}
"""By name."""
