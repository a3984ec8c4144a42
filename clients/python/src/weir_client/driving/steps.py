"""What the client's rules ask of the world outside.

The rules are generators that yield these steps and are sent what came of each: they wait for nothing themselves, so that the same rules
serve programs with threads (`threads.py`) and programs with asyncio (`tasks.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union

T = TypeVar("T")


@dataclass(frozen=True)
class Ask:
    """One attempt of a request; answered with `Answered`. It fails with whatever went wrong on the way."""

    method: str
    url: str
    headers: Dict[str, str]
    content: Union[bytes, Callable[[], Iterator[bytes]], None]
    within: float


@dataclass(frozen=True)
class Answered:
    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Open:
    """The same for an answer that comes line by line: answered with a stream whose status and headers are there."""

    ask: Ask


@dataclass(frozen=True)
class NextLine:
    """The next line of a stream; None at its end."""

    stream: Any


@dataclass(frozen=True)
class Rest:
    """What is left of a stream, as text."""

    stream: Any


@dataclass(frozen=True)
class Close:
    stream: Any


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Tell:
    """Calls a function of the caller; what it returns is waited for, where it can be."""

    work: Callable[..., Any]
    arguments: Tuple[Any, ...]


class Signal:
    """Something that happens once."""

    def __init__(self) -> None:
        self.is_set = False
        self._waiting: List[Callable[[], None]] = []

    def set(self) -> None:
        self.is_set = True
        waiting, self._waiting = self._waiting, []
        for go_on in waiting:
            go_on()

    def then(self, go_on: Callable[[], None]) -> None:
        if self.is_set:
            go_on()
        else:
            self._waiting.append(go_on)


@dataclass(frozen=True)
class Wait:
    signal: Signal


@dataclass(frozen=True)
class Take:
    """The next item of an iterator; END after the last one, or once `stop` happened."""

    items: Union[Iterator[Any], AsyncIterator[Any]]
    stop: Signal


END = object()


@dataclass(frozen=True)
class Begin:
    """Lets other work go on beside this."""

    work: Generator[Any, Any, None]


Step = Union[Ask, Open, NextLine, Rest, Close, Pause, Tell, Wait, Take, Begin]
Work = Generator[Step, Any, T]

OnRetry = Optional[Callable[[Any], Any]]
