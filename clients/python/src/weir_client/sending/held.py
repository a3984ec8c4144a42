"""What a recorder holds: interactions that come one by one, until each is decided."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Deque, List, Optional, Tuple

from ..call import Settings, new_key
from ..driving.steps import Work
from ..errors import Problem, WeirError
from ..record_types import RECORD_TYPES
from .records import to_text
from .send import SendOptions, SendResult, send_in_halves, send_texts
from .upload import Callback, calling


@dataclass(frozen=True)
class RecorderCounts:
    """What became of all interactions so far. Those that are `held` are yet to be decided."""

    accepted: int
    refused: int
    waiting: int
    lost: int
    held: int


@dataclass(frozen=True)
class RecorderRefusal:
    interaction: Any
    problems: List[Problem]
    request_id: str


@dataclass(frozen=True)
class RecorderLoss:
    interactions: List[Any]
    error: WeirError


@dataclass(frozen=True)
class RecorderOptions:
    batch_size: int = 500
    every: float = 1.0
    most_bytes: int = 8 * 1024 * 1024
    when_full: str = "refuse"
    missing_references: Optional[str] = None
    wait_for: Optional[str] = None
    on_refused: Callback = None
    on_lost: Callback = None


@dataclass
class Chunk:
    """Interactions that are sent in one request: with the same key and the same body each time, so that they are taken once."""

    key: str = field(default_factory=new_key)
    texts: List[str] = field(default_factory=list)
    bytes: int = 0


# One attempt after another for this long; then what could not be sent is tried again after a rest.
ROUND = 20.0
REST = 5.0
_LARGEST_CHUNK = 1024 * 1024


class Held:
    """Bounded, and safe to be used by several threads."""

    def __init__(self, options: RecorderOptions) -> None:
        self.kind = RECORD_TYPES["interactions"]
        for name, given, most in (
            ("batch_size", options.batch_size, self.kind.limit),
            ("most_bytes", options.most_bytes, 2**53),
        ):
            if not 1 <= given <= most:
                remedy = f"give it as a whole number from 1 to {most}, or leave it out"
                raise WeirError("usage", f"{name} is {given}", remedy)
        self.options = options
        self._lock = threading.Lock()
        self._open = Chunk()
        self._queue: Deque[Chunk] = deque()
        self._under_way: List[Chunk] = []
        self._bytes = 0
        self._accepted = self._refused = self._waiting = self._lost = 0

    def counts(self) -> RecorderCounts:
        with self._lock:
            held = sum(len(each.texts) for each in (*self._queue, *self._under_way, self._open))
            return RecorderCounts(self._accepted, self._refused, self._waiting, self._lost, held)

    def add(self, interaction: Any) -> Tuple[bool, bool, List[RecorderLoss]]:
        """Takes an interaction as it is now. Whether it was taken, whether there is enough for a request, and what was lost for it."""
        text = to_text(interaction)
        size = len(text.encode()) + 1
        with self._lock:
            lost = self._make_room(size)
            if self._bytes + size > self.options.most_bytes:
                self._lost += 1
                return False, True, [*lost, RecorderLoss([json.loads(text)], _full("this one was not taken"))]
            if self._open.bytes + size > _LARGEST_CHUNK:
                self._seal()
            self._bytes += size
            self._open.bytes += size
            self._open.texts.append(text)
            if len(self._open.texts) >= self.options.batch_size:
                self._seal()
            return True, bool(self._queue), lost

    def _make_room(self, size: int) -> List[RecorderLoss]:
        lost: List[RecorderLoss] = []
        while self.options.when_full == "drop_oldest" and self._bytes + size > self.options.most_bytes:
            if not self._queue:
                self._seal()
            if not self._queue:
                break
            lost.append(self._lose(self._queue.popleft(), _full("the oldest were dropped")))
        return lost

    def _seal(self) -> None:
        if self._open.texts:
            self._queue.append(self._open)
            self._open = Chunk()

    def _lose(self, chunk: Chunk, error: WeirError) -> RecorderLoss:
        self._bytes -= chunk.bytes
        self._lost += len(chunk.texts)
        return RecorderLoss([json.loads(text) for text in chunk.texts], error)

    def take_all(self) -> List[Chunk]:
        """What was recorded by now, to be sent."""
        with self._lock:
            self._seal()
            taken = list(self._queue)
            self._queue.clear()
            self._under_way.extend(taken)
            return taken

    def put_back(self, chunks: Sequence[Chunk]) -> None:
        with self._lock:
            for chunk in reversed(chunks):
                self._under_way.remove(chunk)
                self._queue.appendleft(chunk)

    def lose_all(self, error: WeirError) -> List[RecorderLoss]:
        with self._lock:
            self._seal()
            left = [*self._under_way, *self._queue]
            self._queue.clear()
            self._under_way.clear()
            return [self._lose(chunk, error) for chunk in left]

    def deliver(self, settings: Settings, chunk: Chunk) -> Work[None]:
        """Sends a chunk, and tells what became of it. Raises where it may be sent again."""
        options = self.options

        def send(some: Sequence[str], half: str) -> Work[SendResult]:
            waits = SendOptions(False, None, chunk.key + half, options.missing_references, options.wait_for)
            return (yield from send_texts(settings, self.kind, some, waits))

        try:
            result = yield from send_in_halves(chunk.texts, send, lambda some: None)
        except WeirError as error:
            if error.kind in ("network", "server"):
                raise
            yield from calling("on_lost", options.on_lost, self._end(chunk, None, error))
            return
        self._end(chunk, result, None)
        for each in result.refused:
            refusal = RecorderRefusal(json.loads(chunk.texts[each.index]), each.problems, result.request_id)
            yield from calling("on_refused", options.on_refused, refusal)

    def _end(self, chunk: Chunk, result: Optional[SendResult], error: Optional[WeirError]) -> Optional[RecorderLoss]:
        with self._lock:
            if chunk not in self._under_way:
                return None
            self._under_way.remove(chunk)
            if error is not None:
                return self._lose(chunk, error)
            if result is not None:
                self._bytes -= chunk.bytes
                self._accepted += result.accepted
                self._refused += len(result.refused)
                self._waiting += len(result.waiting)
            return None


def _full(what: str) -> WeirError:
    remedy = "give it more with most_bytes, record less, or flush() where record() is false"
    return WeirError("usage", f"the recorder holds as much as it may; {what}", remedy)


def too_late(within: float) -> WeirError:
    return WeirError("network", f"not sent within {within} s", "give close() more time with within")


CLOSED = ("usage", "the recorder is closed", "record before close(), or make another one")
