"""What a run of the crash kit is to do."""

from dataclasses import dataclass, field

from kesoku.testing.crash.platform import Platform
from kesoku.testing.crash.watch import Tripwire
from kesoku.testing.crash.wiring import Wiring


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The same plan makes the same decisions; how the machine schedules the processes stays its own."""

    seed: int
    kills: int = 50
    workers: int = 3
    """Processes that claim the same sessions, 2 to 4."""
    platforms: tuple[Platform, ...] = tuple(Platform)
    """Each has a bot with an adapter host of its own."""
    stops: int = 2
    """Workers that are stopped in the middle of a turn for longer than its lease, and then go on."""
    poison: int = 1
    """Prompts that kill every worker that touches them; each of their kills counts."""
    chats: int = 0
    """How often the real `kesoku chat` is killed too, in a home of its own behind all this."""
    tripwires: tuple[Tripwire, ...] = ()
    """Where processes die, in turn, instead of at every point that turns up."""
    speed: float = 20.0
    """How many times faster than real the product's time passes: its lease of 30 s lasts 1.5 s."""
    patience: float = 60.0
    """Real seconds without any progress after which the run is given up."""
    wiring: Wiring = field(default_factory=Wiring)
    """What the actors are made of; a planted fault replaces a part."""
