"""What each function of the clients asks, and what it takes from the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Union

from .call import Request, Settings, as_text, call, in_path, new_key, query_of
from .driving.steps import Pause, Tell, Work
from .errors import WeirError
from .record_types import RECORD_TYPES, RecordType
from .sending.records import to_text
from .sending.send import Refused, SendOptions, SendResult, Waiting, is_undecided, send_texts, to_refused, to_waiting

Json = Dict[str, Any]
Filter = Mapping[str, Any]


def get(settings: Settings, path: str, name: Optional[str] = None) -> Work[Any]:
    said = yield from call(settings, Request("GET", path))
    return said if name is None else said[name]


def post(settings: Settings, path: str, body: Any, key: Optional[str] = None, method: str = "POST") -> Work[Any]:
    text = body if isinstance(body, str) else json.dumps(body, default=as_text, ensure_ascii=False)
    return (yield from call(settings, Request(method, path, body=text, idempotency_key=key)))


def type_named(name: str) -> RecordType:
    found = RECORD_TYPES.get(name)
    if found is None:
        raise WeirError("usage", f"there is no type {name!r}", f"the types are {', '.join(RECORD_TYPES)}")
    return found


def send(settings: Settings, kind: RecordType, records: Sequence[Any], options: SendOptions) -> Work[SendResult]:
    return (yield from send_texts(settings, kind, [to_text(each) for each in records], options))


@dataclass(frozen=True)
class Page:
    items: List[Any]
    next: Optional[str]


def page_of(
    settings: Settings, path: str, name: str, filter: Optional[Filter], page_size: Optional[int], cursor: Optional[str]
) -> Work[Page]:
    query = query_of({**(filter or {}), "limit": page_size, "cursor": cursor})
    said = yield from call(settings, Request("GET", path + query))
    return Page(said[name], said["next_cursor"])


def record_interaction(
    settings: Settings, interaction: Any, key: Optional[str], missing_references: Optional[str], wait_for: Optional[str]
) -> Work[Json]:
    query = query_of({"missing_references": missing_references, "wait_for": wait_for})
    said: Json = yield from post(settings, f"/user-interactions{query}", to_text(interaction), key or new_key())
    return said


@dataclass(frozen=True)
class BatchOutcome:
    """200 all accepted, 207 some, or some wait, 400 none, 202 not decided yet, 500 unknown."""

    batch: int
    status: int
    batch_id: Optional[str]
    message: str
    refused: List[Refused]
    # Those that wait now, and what came of those that waited.
    waiting: List[Waiting]
    waited: List[Json]


@dataclass(frozen=True)
class RequestOutcome:
    """What became of a request. Records that wait are decided too: look at `waiting`."""

    request_id: str
    type: str
    is_decided: bool
    batches: List[BatchOutcome]


def get_request(settings: Settings, request_id: str) -> Work[RequestOutcome]:
    said = yield from get(settings, f"/v1/requests/{in_path(request_id)}")
    batches = said["batches"]
    return RequestOutcome(
        said["request_id"], said["type"], not any(map(is_undecided, batches)), [_outcome_of(each) for each in batches]
    )


def _outcome_of(batch: Json) -> BatchOutcome:
    data = batch["data"]
    error = data.get("error")
    return BatchOutcome(
        batch["batch"],
        batch["status"],
        data["batch_id"],
        data["message"] if error is None else error,
        [to_refused(each) for each in data.get("errors") or []],
        [to_waiting(each) for each in data.get("waiting") or []],
        data.get("waited") or [],
    )


def retry_rejections(
    settings: Settings,
    filter: Filter,
    dry_run: bool,
    limit: Optional[int],
    cursor: Optional[str],
    change: Optional[Filter],
    key: Optional[str],
) -> Work[Json]:
    given = {"filter": dict(filter), "dry_run": dry_run or None, "limit": limit, "cursor": cursor, "change": change}
    body = {name: value for name, value in given.items() if value is not None}
    said: Json = yield from post(settings, "/v1/rejections/retry", body, key or (None if dry_run else new_key()))
    return said


def cancel_waiting(settings: Settings, filter: Filter) -> Work[int]:
    cancelled: int = 0
    idle = 0
    while True:
        step = yield from post(settings, "/v1/waiting/cancel", dict(filter))
        cancelled += step["cancelled"]
        if step["complete"]:
            return cancelled
        # Those that are left are being decided, which takes a moment.
        idle = 0 if step["cancelled"] > 0 else idle + 1
        if idle == _MOST_IDLE:
            raise WeirError("server", f"{step['left']} records are being decided and still wait", "call cancel again later")
        if idle > 0:
            yield Pause(_IDLE_PAUSE)


_MOST_IDLE = 20
_IDLE_PAUSE = 0.5


def retry_path(request_id: str) -> str:
    return f"/v1/rejections/retries/{in_path(request_id)}"


def key_path(key_id: str) -> str:
    return f"/v1/keys/{in_path(key_id)}"


def person_path(person_id: str) -> str:
    return f"/v1/persons/{in_path(person_id)}/export"


def ask_erasure(settings: Settings, person_id: str, mode: str, dry_run: bool, afterwards: Optional[str]) -> Work[Json]:
    given = {"person_id": person_id, "mode": mode, "dry_run": dry_run or None, "afterwards": afterwards}
    body = {name: value for name, value in given.items() if value is not None}
    said: Json = yield from post(settings, "/v1/erasures", body)
    return said


def find_erasure(settings: Settings, erasure_id: str) -> Work[Json]:
    said: Json = yield from get(settings, f"/v1/erasures/{in_path(erasure_id)}")
    return said


def until_erased(settings: Settings, erasure_id: str, every: float, on_step: Optional[Callable[[Json], Any]]) -> Work[Json]:
    step: Optional[str] = None
    while True:
        erasure = yield from find_erasure(settings, erasure_id)
        if on_step is not None and erasure["step"] != step:
            yield Tell(on_step, (erasure,))
        step = erasure["step"]
        if erasure["status"] == "done":
            return erasure
        if erasure["status"] == "failed":
            message = f"the erasure {erasure_id} has failed: {erasure['problem']}"
            raise WeirError("server", message, "when that is put right, ask for it again")
        yield Pause(every)


Types = Union[str, Sequence[str]]


def feed_page(settings: Settings, types: Types, after: Any, limit: Optional[int], wait: Optional[str]) -> Work[Json]:
    one = types if isinstance(types, str) and types != "all" else None
    several = types if isinstance(types, str) else ",".join(types)
    path = "/v1/feeds" if one is None else f"/v1/feeds/{in_path(one)}"
    query = query_of({"types": several if one is None else None, "after": after, "limit": limit, "wait": wait})
    page: Json = yield from get(settings, path + query)
    return page
