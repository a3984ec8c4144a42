"""Any number of records in requests, a few at a time, but never two with a record of one id: the later record wins."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from ..call import Settings
from ..driving.steps import END, Begin, Signal, Take, Tell, Wait, Work
from ..errors import Progress, WeirError
from ..record_types import RecordType
from .in_flight import IdGate, InFlight, InFlightPlace
from .records import id_of, iterator_of, to_text
from .send import SendOptions, SendResult, send_in_halves, send_texts

Callback = Optional[Callable[[Any], Any]]


@dataclass(frozen=True)
class UploadSummary:
    accepted: int
    refused: int
    waiting: int
    requests: int


@dataclass(frozen=True)
class UploadOptions:
    in_flight: float = 4
    batch_size: Optional[int] = None
    on_refused: Callback = None
    on_waiting: Callback = None
    on_progress: Callback = None


@dataclass
class _Batch:
    """Records that go into one request. `first` is the place of the first one in the source."""

    first: int
    texts: List[str]
    ids: List[str]
    # The records themselves, where `on_refused` or `on_waiting` is to get them.
    records: List[Any]


def upload_all(
    settings: Settings, kind: RecordType, source: Any, send: SendOptions, options: UploadOptions
) -> Work[UploadSummary]:
    upload = _Upload(settings, kind, source, send, options)
    return (yield from upload.run())


class _Upload:
    def __init__(self, settings: Settings, kind: RecordType, source: Any, send: SendOptions, options: UploadOptions) -> None:
        self._settings = settings
        self._kind = kind
        self._send_options = send
        self._options = options
        self._batches = _Batches(source, kind, options)
        self._places = InFlight(options.in_flight)
        self._gate = IdGate()
        # Where the batches begin that are not settled yet. They come in order, so the first is the earliest.
        self._open: Dict[int, None] = {}
        self._accepted = self._refused = self._waiting = self._requests = 0
        self._failure: Optional[BaseException] = None
        self._reported = Signal()
        self._reported.set()
        self._has_report_failed = False

    def run(self) -> Work[UploadSummary]:
        running: List[Signal] = []
        try:
            while self._failure is None:
                place = yield from self._places.enter()
                batch = None if self._failure else (yield from self._batches.next())
                if batch is None:
                    break
                self._open[batch.first] = None
                over = Signal()
                running = [each for each in running if not each.is_set] + [over]
                yield Begin(self._run_batch(batch, place, over))
        except Exception as reason:
            self._fail(reason)
        for over in running:
            yield Wait(over)
        if self._failure is None:
            return UploadSummary(self._accepted, self._refused, self._waiting, self._requests)
        if isinstance(self._failure, WeirError):
            self._failure.progress = self._progress()
        raise self._failure

    def _fail(self, reason: BaseException) -> None:
        self._failure = self._failure or reason
        self._batches.stop.set()

    def _progress(self) -> Progress:
        read = self._batches.given
        settled = next(iter(self._open), read)
        return Progress(read, settled, self._accepted, self._refused, self._waiting, self._requests)

    def _run_batch(self, batch: _Batch, place: InFlightPlace, over: Signal) -> Work[None]:
        turn = self._gate.enter(batch.ids)
        is_answered = False
        try:
            yield from turn.ready()
            # What becomes of a request that failed is not known: later records with its ids must not overtake it.
            if self._failure:
                return
            result = yield from self._send(batch.texts, place)
            is_answered = True
            yield from self._in_turn(self._report(batch, result))
        except Exception as reason:
            self._fail(reason)
        finally:
            turn.leave()
            place.leave(is_answered)
            over.set()

    def _send(self, texts: Sequence[str], place: InFlightPlace) -> Work[SendResult]:
        def note_retry(retry: Any) -> None:
            if retry.status in (429, 503):
                place.busy()

        def send(some: Sequence[str], half: str) -> Work[SendResult]:
            self._requests += 1
            return (yield from send_texts(self._settings, self._kind, some, self._send_options, note_retry))

        def shrink(some: Sequence[str]) -> None:
            self._batches.shrink(sum(map(len, some)))

        return (yield from send_in_halves(texts, send, shrink))

    def _in_turn(self, report: Work[None]) -> Work[None]:
        """One report after another, and no more once one has failed."""
        before, self._reported = self._reported, Signal()
        own = self._reported
        try:
            yield Wait(before)
            if not self._has_report_failed:
                yield from report
        except Exception:
            self._has_report_failed = True
            raise
        finally:
            own.set()

    def _report(self, batch: _Batch, result: SendResult) -> Work[None]:
        # A batch whose refusals were not all handed over does not count as settled: an upload that goes on from there has them again.
        handed: Tuple[Tuple[str, Callback, Sequence[Any]], ...] = (
            ("on_refused", self._options.on_refused, result.refused),
            ("on_waiting", self._options.on_waiting, result.waiting),
        )
        for name, callback, each_of in handed:
            for one in each_of if callback else ():
                record = batch.records[one.index]
                more = {"index": batch.first + one.index, "record": record, "request_id": result.request_id}
                yield from calling(name, callback, dataclasses.replace(one, **more))
        self._accepted += result.accepted
        self._refused += len(result.refused)
        self._waiting += len(result.waiting)
        del self._open[batch.first]
        yield from calling("on_progress", self._options.on_progress, self._progress())


def calling(name: str, callback: Callback, argument: Any) -> Work[None]:
    """Calls what the caller gave. What it raises is an error of its own, and no failure of a request."""
    if callback is None:
        return
    try:
        yield Tell(callback, (argument,))
    except Exception as cause:
        remedy = f"mend {name}; progress says what was sent, and records may be sent again"
        raise WeirError("usage", f"{name} failed: {cause}", remedy) from cause


# What the service takes, unless its operator set another BODY_LIMIT: 16 MiB with what stands around the records.
_LARGEST_BODY = 16 * 1024 * 1024 - 64
# It reads at most 100 000 JSON values. Records with many unknown fields are refused one by one if they come in smaller
# requests; in a large one they would take the good ones with them.
_MOST_VALUES = 90_000
_GO_ON = (
    "mend the source and upload again; records that were accepted before may be sent again, or left out up to progress.settled"
)


class _Batches:
    """Cuts a source into batches that one request can carry, and reads no record more than the batch asked for needs."""

    def __init__(self, source: Any, kind: RecordType, options: UploadOptions) -> None:
        size = kind.limit if options.batch_size is None else options.batch_size
        if not size >= 1:
            remedy = f"give it as a number from 1 to {kind.limit}, or leave it out"
            raise WeirError("usage", f"batch_size is {size}", remedy)
        self.given = 0
        self.stop = Signal()
        self._items = iterator_of(source, kind)
        self._kind = kind
        self._most = min(kind.limit, int(size))
        self._most_bytes = _LARGEST_BODY
        self._is_kept = options.on_refused is not None or options.on_waiting is not None
        self._held: Optional[Tuple[Any, str, int, int]] = None

    def next(self) -> Work[Optional[_Batch]]:
        batch = _Batch(self.given, [], [], [])
        total_bytes = values = 0
        while len(batch.texts) < self._most:
            one = self._held or (yield from self._read(self.given + len(batch.texts)))
            self._held = None
            if one is None or self.stop.is_set:
                break
            record, text, size, fields = one
            total_bytes += size + 1
            values += fields
            if batch.texts and (total_bytes > self._most_bytes or values > _MOST_VALUES):
                self._held = one
                break
            batch.texts.append(text)
            own = id_of(record, self._kind.id)
            if own is not None:
                batch.ids.append(own)
            if self._is_kept:
                batch.records.append(record)
        if self.stop.is_set:
            return None
        self.given += len(batch.texts)
        return batch if batch.texts else None

    def shrink(self, too_many: int) -> None:
        """Requests of this many bytes are too large here: the next ones are to be half as large."""
        self._most_bytes = min(self._most_bytes, too_many // 2)

    def _read(self, index: int) -> Work[Optional[Tuple[Any, str, int, int]]]:
        try:
            record = yield Take(self._items, self.stop)
        except WeirError:
            raise
        except Exception as cause:
            raise WeirError("usage", f"record {index} could not be read: {cause}", _GO_ON) from cause
        if record is END:
            return None
        try:
            text = to_text(record)
            fields = len(record) + 1 if hasattr(record, "__len__") else 1
            return record, text, len(text.encode()), fields
        except (TypeError, ValueError) as cause:
            raise WeirError("usage", f"record {index} cannot be written as JSON: {cause}", _GO_ON) from cause
