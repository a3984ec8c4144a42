"""Why something could not be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

Problem = Dict[str, Any]
"""What is wrong with a record: `field` (None where it is the record as a whole), `code`, which is stable, and `message`."""


@dataclass(frozen=True)
class Progress:
    """How far an upload came. The first `settled` records are decided: to go on after an error, begin with the next one."""

    read: int
    settled: int
    accepted: int
    refused: int
    waiting: int
    requests: int


class WeirError(Exception):
    """`message` says what happened, `remedy` what to do about it, and `kind` what sort of error it is.

    - `usage`: what was asked for cannot be done; the same again fails again
    - `key`: the key is not valid, or may not do this; or a webhook was not signed with its secret
    - `conflict`: the idempotency key was used with another body before; or, with `conflicts`, `if_version` is not what is current
    - `network`: no answer came
    - `server`: the service could not do it now; the same again later may succeed
    """

    def __init__(
        self,
        kind: str,
        message: str,
        remedy: str,
        *,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        problems: Optional[List[Problem]] = None,
        conflicts: Optional[List[Dict[str, Any]]] = None,
        restart: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.remedy = remedy
        self.status = status
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.problems = problems or []
        self.conflicts = conflicts or []
        # Where a feed can go on after a cursor whose next events are no longer kept: to be given as `after`.
        self.restart = restart
        # How far an upload came before it stopped.
        self.progress: Optional[Progress] = None

    def __str__(self) -> str:
        return f"{self.message} ({self.remedy})"


def error_of_answer(status: int, said: Any, idempotency_key: Optional[str]) -> WeirError:
    """The error for an answer that is none of the good ones."""
    given: Dict[str, Any] = said if isinstance(said, dict) else {}
    message = given.get("message")
    conflicts = given.get("conflicts")
    kind, remedy = _STALE if isinstance(conflicts, list) and conflicts else _meaning_of(status)
    return WeirError(
        kind,
        message if isinstance(message, str) else f"the answer was {status} without a message",
        remedy,
        status=status,
        request_id=given.get("request_id"),
        idempotency_key=idempotency_key,
        problems=given.get("problems"),
        conflicts=conflicts,
        restart=given.get("restart"),
    )


_STALE = (
    "conflict",
    "compare `sent` with `current` in `conflicts`; to overwrite it, give the version of `current` as if_version",
)


def _meaning_of(status: int) -> Tuple[str, str]:
    if status == 401:
        return "key", "check the key: it may be mistyped, expired or revoked; the operator can issue a new one"
    if status == 403:
        return "key", "ask the operator for a key with the scope that is missing"
    if status == 404:
        return "usage", "check the url given to Weir, and the id that was asked for"
    if status == 409:
        return "conflict", "send the first body again with this idempotency key, or use a new key"
    if status == 410:
        return "usage", "go on with `restart` as `after`"
    if status == 413:
        return "usage", "send fewer records in one request"
    if 300 <= status < 400:
        return "usage", "the address redirects; give Weir the url that it redirects to"
    if is_retriable(status) or status >= 500:
        return "server", "try again later; with the same idempotency key nothing is taken twice"
    return "usage", "mend what the message names; the same again would fail again"


def is_retriable(status: int) -> bool:
    """The answers after which the same request may succeed in a moment."""
    return status in (408, 429, 500, 502, 503, 504)
