"""Records in one request, and in as many as they need."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

from ..call import Request, Settings, call, new_key, query_of
from ..driving.steps import OnRetry, Work
from ..errors import Problem, WeirError
from ..record_types import RecordType


@dataclass(frozen=True)
class Refused:
    """A record that was not accepted, and why. `index` is its place among the records given, `line` that in a file."""

    index: int
    problems: List[Problem]
    id: Optional[str] = None
    line: Optional[int] = None
    # In an upload: the record as it was given, and the request that it was in.
    record: Any = None
    request_id: Optional[str] = None


@dataclass(frozen=True)
class Waiting:
    """A record that waits, at the most `until` then, for what it refers to: `missing` has `field`, `type` and `id` of each."""

    index: int
    id: str
    missing: List[Dict[str, str]]
    until: str
    line: Optional[int] = None
    record: Any = None
    request_id: Optional[str] = None


@dataclass(frozen=True)
class SendResult:
    request_id: str
    accepted: int
    refused: List[Refused]
    waiting: List[Waiting]


@dataclass(frozen=True)
class SendOptions:
    dry_run: bool = False
    if_version: Optional[Sequence[Optional[int]]] = None
    idempotency_key: Optional[str] = None
    missing_references: Optional[str] = None
    wait_for: Optional[str] = None


def send_texts(
    settings: Settings, kind: RecordType, texts: Sequence[str], options: SendOptions, on_retry: OnRetry = None
) -> Work[SendResult]:
    """Sends records that are JSON already, as one request, and returns when each of them is decided."""
    if not 1 <= len(texts) <= kind.limit:
        raise WeirError(
            "usage",
            f"a request carries 1 to {kind.limit} records of {kind.name}; this one would carry {len(texts)}",
            "use upload(), which cuts any number of records into requests",
        )
    versions = options.if_version
    query = query_of(
        {
            "dry_run": options.dry_run or None,
            "if_version": versions and ",".join("none" if each is None else str(each) for each in versions),
            "missing_references": options.missing_references,
            "wait_for": options.wait_for,
        }
    )
    request = Request(
        "POST",
        f"/v1/data/{kind.name}{query}",
        body=f'{{"records":[{",".join(texts)}]}}',
        # A dry run changes nothing, so it may simply be made again.
        idempotency_key=options.idempotency_key or (None if options.dry_run else new_key()),
        undecided=_undecided,
    )
    said = yield from call(settings, request, on_retry)
    batches = said.get("batches") if isinstance(said, dict) else None
    if not isinstance(batches, list):
        raise WeirError("server", "the answer has no batches", "check that the url given to Weir is that of Weir")
    data = [batch["data"] for batch in batches]
    refused = [to_refused(each) for one in data for each in one.get("errors") or []]
    waiting = [to_waiting(each) for one in data for each in one.get("waiting") or []]
    # Where the same request was sent before: those that a newer record replaced while they waited, or that were cancelled.
    dropped = [each for one in data for each in one.get("waited") or [] if each["state"] in ("superseded", "cancelled")]
    accepted = len(texts) - len(refused) - len(waiting) - len(dropped)
    return SendResult(said["request_id"], accepted, refused, waiting)


def send_in_halves(
    texts: Sequence[str],
    send: Callable[[Sequence[str], str], Work[SendResult]],
    on_too_large: Callable[[Sequence[str]], None],
    half: str = "",
) -> Work[SendResult]:
    """Where the operator, or a proxy on the way, takes only smaller bodies, records go in halves, one after the other.

    `half` tells these apart: "", "-1", "-2", "-1-1", …
    """
    try:
        return (yield from send(texts, half))
    except WeirError as error:
        if error.status != 413 or len(texts) == 1:
            raise
    on_too_large(texts)
    middle = (len(texts) + 1) // 2
    first = yield from send_in_halves(texts[:middle], send, on_too_large, f"{half}-1")
    second = yield from send_in_halves(texts[middle:], send, on_too_large, f"{half}-2")
    return SendResult(
        second.request_id,
        first.accepted + second.accepted,
        first.refused + [dataclasses.replace(each, index=middle + each.index) for each in second.refused],
        first.waiting + [dataclasses.replace(each, index=middle + each.index) for each in second.waiting],
    )


def is_undecided(batch: Dict[str, Any]) -> bool:
    """A batch that may still be decided either way."""
    return batch["status"] in (500, 202)


def _undecided(said: Any) -> Optional[str]:
    """Whether some batches have no verdict: the request is sent again with its key, and only those are taken again."""
    batches = said.get("batches") if isinstance(said, dict) else None
    if not isinstance(batches, list):
        return None
    open_ones = [batch for batch in batches if is_undecided(batch)]
    if not open_ones:
        return None
    reason = open_ones[0]["data"].get("error") or "not decided yet"
    return f"{len(open_ones)} of {len(batches)} batches are not decided: {reason}"


def to_refused(said: Dict[str, Any]) -> Refused:
    given = said.get("id")
    return Refused(said["index"], said["problems"], given if isinstance(given, str) else None, said.get("line"))


def to_waiting(said: Dict[str, Any]) -> Waiting:
    return Waiting(said["index"], said["id"], said["for"], said["until"], said.get("line"))
