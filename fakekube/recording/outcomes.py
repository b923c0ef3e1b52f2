"""What became of what was played."""

from dataclasses import dataclass, field

from fakekube.recording.comparison import Difference
from fakekube.recording.plan import Conversation, Step


@dataclass
class Outcome:
    """What became of a step that was played."""

    step: Step
    differences: list[Difference] = field(default_factory=list)


@dataclass
class Played:
    """What became of a conversation.

    ``failure`` is why it was not played to its end, ``left`` what could not be removed.
    """

    conversation: Conversation
    outcomes: list[Outcome] = field(default_factory=list)
    failure: str = ""
    left: list[str] = field(default_factory=list)
