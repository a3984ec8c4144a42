"""Files as they are, in one request that is gone on with where it is cut off."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Callable, Optional, Set, Union

from ..call import LinedBody, Request, Settings, call, new_key, query_of
from ..driving.steps import Work
from ..errors import WeirError
from ..record_types import RecordType
from .send import SendOptions, to_refused, to_waiting
from .upload import Callback, calling

ImportBody = Union[bytes, str, "os.PathLike[str]", Callable[[], Iterator[bytes]]]
"""Records as they stand in a file: its path, its bytes, or a function that is called for each attempt and gives the same bytes each time."""


@dataclass(frozen=True)
class ImportResult:
    request_id: str
    records: int
    accepted: int
    refused: int
    waiting: int


@dataclass(frozen=True)
class ImportProgress:
    """`settled` records are decided."""

    settled: int
    accepted: int
    refused: int
    waiting: int


@dataclass(frozen=True)
class ImportOptions:
    format: Optional[str] = None
    gzipped: Optional[bool] = None
    on_refused: Callback = None
    on_waiting: Callback = None
    on_progress: Callback = None


def import_body(
    settings: Settings, kind: RecordType, body: ImportBody, send: SendOptions, options: ImportOptions
) -> Work[ImportResult]:
    """Where it is cut off, the same body is sent again with its key: what was decided is answered again, and not told again."""
    key = send.idempotency_key or (None if send.dry_run else new_key())
    headers, open_body = _read_body(body, options)
    # By their first lines: batches are counted in each answer, and one that is not decided may not be there.
    reported: Set[int] = set()
    accepted = refused = waiting = 0
    reported_before = idle = 0

    def on_line(line: Any) -> Work[None]:
        nonlocal accepted, refused, waiting
        if not isinstance(line, dict) or "from_line" not in line or line["status"] == 500 or line["from_line"] in reported:
            return
        for each in line["refused"]:
            yield from calling("on_refused", options.on_refused, to_refused(each))
        for each in line["waiting"]:
            yield from calling("on_waiting", options.on_waiting, to_waiting(each))
        reported.add(line["from_line"])
        accepted += line["accepted"]
        refused += len(line["refused"])
        waiting += len(line["waiting"])
        progress = ImportProgress(accepted + refused + waiting, accepted, refused, waiting)
        yield from calling("on_progress", options.on_progress, progress)

    def undecided(said: Any) -> Optional[str]:
        """Another attempt helps where it gets further; a body that cannot be read ends at the same place again."""
        nonlocal reported_before, idle
        summary = said.get("summary") if isinstance(said, dict) else None
        if not summary or summary["complete"]:
            return None
        message: str = summary["message"]
        more = {"request_id": summary["request_id"], "idempotency_key": key}
        if "used with another body" in message:
            raise WeirError("conflict", message, "send the first body again with this key, or use a new key", **more)
        idle = 0 if len(reported) > reported_before else idle + 1
        reported_before = len(reported)
        if idle == _MOST_IDLE or key is None:
            raise WeirError("server", message, "mend what the message names, or send the same again later", **more)
        return message

    query = query_of({"dry_run": send.dry_run or None, "missing_references": send.missing_references, "wait_for": send.wait_for})
    request = Request(
        "POST",
        f"/v1/imports/{kind.name}{query}",
        lined=LinedBody(headers, open_body, on_line),
        idempotency_key=key,
        undecided=undecided,
    )
    said = yield from call(settings, request)
    summary = said.get("summary") if isinstance(said, dict) else None
    if not summary:
        raise WeirError("server", "the answer has no summary", "check that the url given to Weir is that of Weir")
    counts = (summary[name] for name in ("records", "accepted", "refused", "waiting"))
    return ImportResult(summary["request_id"], *counts)


_MOST_IDLE = 3
_CONTENT_TYPES = {"ndjson": "application/x-ndjson", "csv": "text/csv"}
_FORMATS = {".ndjson": "ndjson", ".jsonl": "ndjson", ".csv": "csv"}


def _read_body(body: ImportBody, options: ImportOptions) -> Any:
    path = os.fspath(body) if isinstance(body, (str, os.PathLike)) else None
    stem, suffix = os.path.splitext(path or "")
    gzipped = suffix == ".gz" if options.gzipped is None else options.gzipped
    if suffix == ".gz":
        suffix = os.path.splitext(stem)[1]
    content_type = _CONTENT_TYPES.get(options.format or _FORMATS.get(suffix.lower(), ""))
    if content_type is None:
        raise WeirError("usage", "the format of the body is not known", 'give format="ndjson" or format="csv"')
    headers = {"content-type": content_type, **({"content-encoding": "gzip"} if gzipped else {})}
    if path is None:
        return headers, (body if callable(body) else lambda: body)
    return headers, lambda: _pieces_of(path)


def _pieces_of(path: str) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while True:
            piece = file.read(256 * 1024)
            if not piece:
                return
            yield piece
