"""Made-up events to test a consumer with; no system is needed.

The generator is schemas/samples, in TypeScript; this one does the same in the same order, which a test compares.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, TypeVar, Union

from .sampled_types import SAMPLED_TYPES

Event = Dict[str, Any]
_T = TypeVar("_T")

_REFERRED_TO = 10
_BATCH = 100
_DAY = 86_400_000
# 2026-01-01, in milliseconds: the same seed gives the same events in every year.
_BEGIN = 1_767_225_600_000
_REGIONS = ["GB", "GB", "GB", "IE", "DE", "FR"]


class TopicSample(NamedTuple):
    """Events in the order in which a consumer reads them, and what a right one has at the end: of each record the newest event, without
    those that are deleted, sorted by id."""

    events: List[Event]
    expected: List[Event]


def sample_topic(
    type: str,
    *,
    count: int = 1000,
    deletes: bool = False,
    duplicates: bool = False,
    new_fields: bool = False,
    seed: int = 1,
) -> TopicSample:
    """`count` records, with their versions, as they are on the topic of this type. The same seed always gives the same, and so does `weir topics sample`.

    `deletes`: some records are deleted, and some of those come back. `duplicates`: events come again, alone and in whole stretches, and old
    versions late. `new_fields`: events have an optional field that is in no schema yet, `added_later`.
    """
    if type not in SAMPLED_TYPES:
        raise ValueError(f"there is no type {type}; there are {', '.join(SAMPLED_TYPES)}")
    has_versions = not SAMPLED_TYPES[type]["fields"][SAMPLED_TYPES[type]["id"]].get("assigned")
    if deletes and not has_versions:
        raise ValueError(f"{type} are never changed or deleted: leave deletes out")
    if not 1 <= count <= 100_000:
        raise ValueError("count is a number from 1 to 100000")
    if not 0 <= seed <= 999_999:
        raise ValueError("seed is a number from 0 to 999999")
    history = _history(type, seed, _planned(type, seed, count, has_versions, deletes), new_fields)
    events = _published(type, seed, history) if duplicates else [event for _, event in history]
    # Each its own: a consumer may change what it is given.
    return TopicSample([dict(event) for event in events], [dict(event) for event in _final_state(events, type)])


_Place = Union[str, int]


def _digest(place: Tuple[_Place, ...]) -> bytes:
    return hashlib.sha256(json.dumps(place, separators=(",", ":")).encode()).digest()


def _id_of(*place: _Place) -> str:
    hex = _digest(place).hex()
    return f"{hex[:8]}-{hex[8:12]}-4{hex[13:16]}-a{hex[17:20]}-{hex[20:32]}"


class _Chance:
    def __init__(self, *place: _Place) -> None:
        self._state = int.from_bytes(_digest(place)[:4], "little")

    def share(self) -> float:
        """As mulberry32, in 32 bits."""
        self._state = (self._state + 0x6D2B79F5) & 0xFFFFFFFF
        t = (self._state ^ self._state >> 15) * (1 | self._state) & 0xFFFFFFFF
        t = (t + (t ^ t >> 7) * (61 | t) & 0xFFFFFFFF) ^ t
        return (t ^ t >> 14) / 4294967296

    def below(self, bound: float) -> int:
        return math.floor(self.share() * bound)

    def one(self, of: Sequence[_T]) -> _T:
        return of[self.below(len(of))]

    def is_likely(self, probability: float) -> bool:
        return self.share() < probability


def _record(type: str, seed: int, index: int) -> Event:
    """The values of a record as events have them, without those that the service assigns."""
    chance = _Chance(seed, type, index)
    fields = {name: field for name, field in SAMPLED_TYPES[type]["fields"].items() if not field.get("assigned")}
    made: Event = dict.fromkeys(fields)
    for name, field in sorted(fields.items(), key=lambda each: each[1]["kind"] == "item"):
        left_out = field["kind"] in ("text", "choice")
        is_like = "likeness" in field and not (left_out and chance.is_likely(0.2))
        if field["required"] or is_like:
            made[name] = _value(type, seed, index, chance, made, name, field)
    return made


def _value(type: str, seed: int, index: int, chance: _Chance, made: Event, name: str, field: Mapping[str, Any]) -> Any:
    def any_of(other: str) -> str:
        return _id_of(seed, other, chance.below(_REFERRED_TO))

    likeness = field.get("likeness", {})
    if "words" in likeness:
        lists = likeness["words"]
        return " ".join(words[index % len(words)] if len(words) >= _REFERRED_TO else chance.one(words) for words in lists)
    kind = field["kind"]
    if kind == "uuid":
        if name == SAMPLED_TYPES[type]["id"]:
            return _id_of(seed, type, index)
        return any_of(likeness["idOf"]) if "idOf" in likeness else _id_of(seed, type, name, index)
    if kind == "reference":
        return any_of(field["to"])
    if kind == "item":
        return any_of(field["kinds"].get(made[field["by"]], ""))
    if kind == "text":
        return f"{name.replace('_', ' ')} {index + 1}"[: field.get("longest")].strip()
    if kind == "country":
        return chance.one(_REGIONS)
    if kind == "number":
        return _number(chance, likeness if "from" in likeness else _bounds(field))
    if kind == "boolean":
        return chance.is_likely(0.9)
    if kind == "choice":
        return chance.one(field["of"])
    if kind in ("instant", "moment"):
        return (_BEGIN - chance.below(likeness.get("lastDays", 90) * _DAY)) // 1000 * 1000
    if kind == "date":
        first, last = (likeness["from"], likeness["to"]) if "from" in likeness else (_BEGIN - 365 * _DAY, _BEGIN)
        return (first + chance.below(last - first)) // _DAY
    raise NotImplementedError(kind)


def _bounds(field: Mapping[str, Any]) -> Dict[str, float]:
    most: Optional[float] = field.get("max")
    least: Optional[float] = field.get("min", field.get("above"))
    start = min(0, (100 if most is None else most) - 100) if least is None else least
    return {"from": start, "to": start + 100 if most is None else most}


def _number(chance: _Chance, likeness: Mapping[str, float]) -> float:
    first, last = likeness["from"], likeness["to"]
    step = likeness.get("step", min(0.01, (last - first) / 2))
    number = float(f"{first + step * (1 + chance.below(math.floor((last - first) / step))):.12g}")
    # As JSON has whole numbers.
    return int(number) if number.is_integer() else number


_Planned = List[Tuple[int, str]]
_History = List[Tuple[int, Event]]


def _planned(type: str, seed: int, count: int, has_versions: bool, deletes: bool) -> _Planned:
    placed = []
    for index in range(count):
        chance = _Chance(seed, "writes", type, index)
        at = chance.share()
        for kind in _kinds(chance, index, deletes) if has_versions else ["first"]:
            placed.append((at, index, kind))
            at += (1 - at) * chance.share()
    return [(index, kind) for _, index, kind in sorted(placed, key=lambda each: each[0])]


def _kinds(chance: _Chance, index: int, deletes: bool) -> List[str]:
    kinds = ["first"]
    if index == 0 or chance.is_likely(0.3):
        kinds.append("changed")
    if chance.is_likely(0.1):
        kinds.append("changed")
    if not deletes or not (index < 2 or chance.is_likely(0.15)):
        return kinds
    kinds.append("deleted")
    if index == 0 or (index > 1 and chance.is_likely(0.35)):
        kinds.append("restored")
    return kinds


def _history(type: str, seed: int, planned: _Planned, new_fields: bool) -> _History:
    fields = SAMPLED_TYPES[type]["fields"]
    chance = _Chance(seed, "places", type)
    current: Dict[int, Event] = {}
    history: _History = []
    offset = chance.below(1000)
    for n, (index, kind) in enumerate(planned):
        batch, place = divmod(n, _BATCH)
        if place == 0 and n > 0:
            offset += 1 + chance.below(3)
        accepted_at = _BEGIN + batch * 60_000
        if index in current:
            values = {**current[index], "updated": accepted_at - 1000, "is_deleted": True if kind == "deleted" else None}
            if kind == "changed":
                other = _record(type, seed, 1_000_000 + index * 1000 + n)
                kept = (SAMPLED_TYPES[type]["id"], "created", "updated", "is_deleted")
                values.update({name: other[name] for name in other if name not in kept and fields[name]["kind"] != "reference"})
        else:
            values = _record(type, seed, index)
        current[index] = values
        event = {
            "org_id": "demo",
            "request_id": _id_of(seed, "request", type, batch),
            "batch_id": _id_of(seed, "batch", type, batch),
            "accepted_at": accepted_at,
            "version": offset * 8192 + place,
        }
        for name, field in fields.items():
            if field.get("assigned"):
                event[name] = _id_of(seed, type, name, index) if field["kind"] == "uuid" else accepted_at
        event.update(values)
        if new_fields:
            event["added_later"] = f"value {n}" if n >= len(planned) / 2 else None
        history.append((index, event))
    return history


def _published(type: str, seed: int, history: _History) -> List[Event]:
    chance = _Chance(seed, "published", type)
    next_of: Dict[int, int] = {}
    last: Dict[int, int] = {}
    for n, (index, _) in enumerate(history):
        if index in last:
            next_of[last[index]] = n
        last[index] = n
    placed: List[Tuple[float, Event]] = []
    doubled = delayed = False
    for n, (_, event) in enumerate(history):
        is_late = n in next_of and (not delayed or chance.is_likely(0.05))
        is_double = not doubled or chance.is_likely(0.05)
        delayed, doubled = delayed or is_late, True
        at = next_of[n] + 0.5 if is_late else n
        placed.append((at, event))
        if is_double:
            placed.append((at + chance.below(20) + 0.25, event))
    once = [event for _, event in sorted(placed, key=lambda each: each[0])]
    ends = {start + 1 + chance.below(min(500, len(once) - start)) for start in range(0, len(once), 500)}
    events = []
    for n, event in enumerate(once, 1):
        events.append(event)
        if n in ends:
            events += once[n - 1 - chance.below(min(100, n)) : n]
    return events


def _final_state(events: Sequence[Event], type: str) -> List[Event]:
    id = SAMPLED_TYPES[type]["id"]
    newest: Dict[str, Event] = {}
    for event in events:
        known = newest.get(event[id])
        if known is None or event["version"] > known["version"]:
            newest[event[id]] = event
    return sorted((event for event in newest.values() if event.get("is_deleted") is not True), key=lambda event: str(event[id]))
