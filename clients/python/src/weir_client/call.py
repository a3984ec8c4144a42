"""One request, made again and again where that may help, until an answer settles it."""

from __future__ import annotations

import datetime
import json
import random
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Optional, Union
from urllib.parse import quote, urlencode

from .driving.steps import Answered, Ask, Close, NextLine, OnRetry, Open, Pause, Rest, Tell, Work
from .errors import WeirError, error_of_answer, is_retriable


@dataclass(frozen=True)
class Retry:
    """An attempt that failed, and how many seconds the next one is waited for. `status` is None where no answer came."""

    attempt: int
    status: Optional[int]
    message: str
    wait: float


@dataclass(frozen=True)
class Settings:
    """Where Weir is, and how it is asked. `now` and `wall` tell the time: the one never jumps, the other is that of calendars."""

    url: str
    key: str
    now: Callable[[], float]
    wall: Callable[[], float]
    give_up_after: float = 600.0
    on_retry: OnRetry = None


@dataclass(frozen=True)
class LinedBody:
    """A body of any length, the same bytes each time that it is opened, answered in lines meanwhile."""

    headers: Dict[str, str]
    open: Callable[[], Union[bytes, Iterator[bytes]]]
    # Gets each line as it comes. What it raises ends the call; the last line is what the answer is judged by.
    on_line: Callable[[Any], Work[None]]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    # JSON. It is the same text in each attempt: with another one the idempotency key would be refused.
    body: Optional[str] = None
    lined: Optional[LinedBody] = None
    idempotency_key: Optional[str] = None
    # For an answer that says by itself that not all is decided: what to say if it stays so.
    undecided: Optional[Callable[[Any], Optional[str]]] = None


@dataclass
class _Failure:
    error: WeirError
    # Seconds that the next attempt has to wait at the least; None where none may help.
    retry_after: Optional[float]


def call(settings: Settings, request: Request, on_retry: OnRetry = None) -> Work[Any]:
    """What the answer says, as JSON."""
    if not settings.give_up_after > 0:
        raise WeirError("usage", f"give_up_after is {settings.give_up_after}", "give it as a number of seconds, like 60")
    deadline = _Deadline(settings)
    attempts = 0
    while True:
        attempts += 1
        try:
            answered = yield from _attempt(settings, request, deadline)
        except WeirError:
            raise
        except Exception as cause:
            outcome: Union[_Failure, _Settled] = _no_answer(settings.url, request, cause)
        else:
            outcome = _judge(settings, request, answered)
        if isinstance(outcome, _Settled):
            return outcome.json
        if outcome.retry_after is None:
            raise outcome.error
        asked = outcome.retry_after + random.random() * _SPREAD if outcome.retry_after else 0
        wait = max(asked, _jitter(attempts))
        # An attempt that has no time to be answered would only hide what was heard last.
        if settings.now() + wait + min(1.0, settings.give_up_after / 10) > deadline.at:
            raise outcome.error
        notice = Retry(attempts, outcome.error.status, outcome.error.message, wait)
        for told in (on_retry, settings.on_retry):
            if told is not None:
                yield Tell(told, (notice,))
        yield Pause(wait)


class _Deadline:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.begin()

    def begin(self) -> None:
        self.at = self._settings.now() + self._settings.give_up_after


@dataclass
class _Settled:
    json: Any


def _attempt(settings: Settings, request: Request, deadline: _Deadline) -> Work[Answered]:
    lined = request.lined
    headers = {
        "accept": "application/x-ndjson, application/json" if lined else "application/json",
        "authorization": f"Bearer {settings.key}",
    }
    if request.body is not None:
        headers["content-type"] = "application/json"
    if lined:
        headers.update(lined.headers)
    if request.idempotency_key is not None:
        headers["idempotency-key"] = request.idempotency_key
    left = max(0.001, deadline.at - settings.now())
    url = settings.url + request.path
    if lined is None:
        content = None if request.body is None else request.body.encode()
        # An answer takes 30 s at the most while a verdict is waited for, and some more under load. A slow line needs time for its
        # body too: 32 bytes in a millisecond are a quarter of a megabit in a second.
        longest = 90.0 + len(content or b"") / 32_000
        answered: Answered = yield Ask(request.method, url, headers, content, min(longest, left))
        return answered
    body = lined.open()
    once = body if isinstance(body, bytes) else (lambda: body)
    stream = yield Open(Ask(request.method, url, headers, once, left))
    try:
        answered = yield from _read_lines(stream, lined, deadline)
    except Exception:
        yield Close(stream)
        raise
    yield Close(stream)
    return answered


def _read_lines(stream: Any, lined: LinedBody, deadline: _Deadline) -> Work[Answered]:
    if not 200 <= stream.status < 300:
        rest: str = yield Rest(stream)
        return Answered(stream.status, stream.headers, rest)
    last = ""
    while True:
        line = yield NextLine(stream)
        if line is None:
            break
        if line.strip() == "":
            continue
        # It may go on for hours: its time begins anew with each line.
        deadline.begin()
        yield from lined.on_line(_parse(line))
        last = line
    if last == "":
        raise ConnectionError("the answer was cut off")
    return Answered(stream.status, stream.headers, last)


def _judge(settings: Settings, request: Request, answered: Answered) -> Union[_Settled, _Failure]:
    """Whether an answer settles the request; if not, why, and how long the next attempt has to wait."""
    status = answered.status
    said = _parse(answered.text)
    retry_after = _read_retry_after(answered.headers, settings.wall())
    undecided = request.undecided(said) if request.undecided else None
    if undecided is not None:
        remedy = "try again later with the same records and the same idempotency key; nothing is taken twice"
        request_id = said.get("request_id") if isinstance(said, dict) else None
        key = request.idempotency_key
        error = WeirError("server", undecided, remedy, status=status, request_id=request_id, idempotency_key=key)
        return _Failure(error, retry_after)
    if is_retriable(status):
        return _Failure(error_of_answer(status, said, request.idempotency_key), retry_after)
    is_good = 200 <= status < 300
    if said is None and is_good:
        remedy = "check that the url given to Weir is that of Weir"
        return _Failure(WeirError("server", "the answer is not JSON", remedy, status=status), None)
    # A 400 with batches is an upload of which every record was refused; one without is no upload at all.
    is_refused_whole = status == 400 and request.undecided and isinstance(said, dict) and isinstance(said.get("batches"), list)
    if is_good or is_refused_whole:
        return _Settled(said)
    return _Failure(error_of_answer(status, said, request.idempotency_key), None)


def _no_answer(url: str, request: Request, cause: Exception) -> _Failure:
    reason = str(cause) or type(cause).__name__
    is_untrusted = "CERTIFICATE_VERIFY_FAILED" in reason
    remedy = (
        "its certificate is not trusted here: check the url; SSL_CERT_FILE names a file with the authority that signed it"
        if is_untrusted
        else "check that the url is right and the service can be reached; with the same idempotency key nothing is taken twice"
    )
    error = WeirError("network", f"no answer from {url}: {reason}", remedy, idempotency_key=request.idempotency_key)
    error.__cause__ = cause
    return _Failure(error, None if is_untrusted else 0.0)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read_retry_after(headers: Mapping[str, str], now: float) -> float:
    """Seconds that a Retry-After header asks for, given in seconds or as a date; 0 where there is none."""
    header = headers.get("retry-after")
    if header is None:
        return 0.0
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (TypeError, ValueError):
        return 0.0


_SHORTEST_WAIT = 0.5
_LONGEST_WAIT = 8.0
# Requests that got the same Retry-After together come back within this time, not at the same moment.
_SPREAD = 1.0


def _jitter(attempts: int) -> float:
    """Anywhere from half a second to a bound that doubles with each attempt: clients that failed together come back apart."""
    bound = min(_LONGEST_WAIT, _SHORTEST_WAIT * 2.0 ** min(attempts, 10))
    return _SHORTEST_WAIT + random.random() * (bound - _SHORTEST_WAIT)


def query_of(given: Mapping[str, Any]) -> str:
    """A query string with what is given; what is None is left out."""
    query = urlencode([(name, as_text(value)) for name, value in given.items() if value is not None])
    return f"?{query}" if query else ""


def as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        # A moment without a zone is in UTC, as everywhere in Weir.
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        moment = aware.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds")
        return moment.replace("+00:00", "Z")
    return str(value)


def in_path(text: str) -> str:
    return quote(text, safe="")


def new_key() -> str:
    return secrets.token_hex(16)
