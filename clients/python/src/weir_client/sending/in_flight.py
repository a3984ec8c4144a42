"""How many requests are under way at once, and which must not be."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Deque, Dict, List, Set

from ..driving.steps import Signal, Wait, Work
from ..errors import WeirError


class InFlight:
    """Begins with `most` at once, halves when the service is busy, and takes one more after each round of answered requests.

    Requests that began before the last halving tell nothing about the new number, so a burst of 429 halves once.
    """

    def __init__(self, most: float) -> None:
        if not most >= 1:
            raise WeirError("usage", f"{most} requests at once cannot be", "give 1 or more")
        self.most = most
        self.limit = math.floor(most)
        self.round = 0
        self._under_way = 0
        self._answered_in_round = 0
        self._waiting: Deque[Signal] = deque()

    def enter(self) -> Work[InFlightPlace]:
        """Waits until there is room for one more request."""
        turn = Signal()
        self._waiting.append(turn)
        self._admit()
        yield Wait(turn)
        return InFlightPlace(self)

    def _admit(self) -> None:
        while self._waiting and self._under_way < self.limit:
            self._under_way += 1
            self._waiting.popleft().set()

    def halve(self) -> None:
        self.limit = max(1, self.limit // 2)
        self._answered_in_round = 0
        self.round += 1

    def leave(self, is_answered: bool) -> None:
        self._under_way -= 1
        if is_answered and self.limit + 1 <= self.most:
            self._answered_in_round += 1
            if self._answered_in_round >= self.limit:
                self.limit += 1
                self._answered_in_round = 0
        self._admit()


class InFlightPlace:
    def __init__(self, in_flight: InFlight) -> None:
        self._in_flight = in_flight
        self._begun_in = in_flight.round

    def busy(self) -> None:
        """The service answered 429 or 503: half as many from now on."""
        if self._begun_in == self._in_flight.round:
            self._in_flight.halve()
        # Its next attempt is made with the new number, and may say that this is too many as well.
        self._begun_in = self._in_flight.round

    def leave(self, is_answered: bool) -> None:
        """The request is over. `is_answered` where it got an answer that settles it."""
        self._in_flight.leave(is_answered)


class IdGate:
    """Lets requests that carry a record with the same id go one after the other, in the order in which they entered.

    Of two requests under way at once it is not known which arrives first: an older value could replace the newer one.
    """

    def __init__(self) -> None:
        # For each id that is under way: when the last request that carries it is over.
        self._last_of: Dict[str, Signal] = {}

    def enter(self, ids: Iterable[str]) -> IdTurn:
        own = set(ids)
        earlier = [self._last_of[each] for each in own if each in self._last_of]
        over = Signal()
        for each in own:
            self._last_of[each] = over
        return IdTurn(self, own, earlier, over)

    def forget(self, ids: Set[str], over: Signal) -> None:
        for each in ids:
            if self._last_of.get(each) is over:
                del self._last_of[each]


class IdTurn:
    def __init__(self, gate: IdGate, ids: Set[str], earlier: List[Signal], over: Signal) -> None:
        self._gate = gate
        self._ids = ids
        self._earlier = earlier
        self._over = over

    def ready(self) -> Work[None]:
        """Waits until every earlier request with one of these ids has left."""
        for each in self._earlier:
            yield Wait(each)

    def leave(self) -> None:
        self._gate.forget(self._ids, self._over)
        self._over.set()
