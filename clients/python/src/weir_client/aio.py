"""The client for programs with asyncio. Made from client.py; to write it anew: npm run publish-schemas"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any, Generic, List, Optional, Type, TypeVar
from urllib.parse import urlsplit

from . import resources
from .call import Settings, new_key, query_of
from .cursor import Store, store_of, waited
from .driving.steps import OnRetry, Work
from .driving.tasks import AsyncClock, AsyncDriver, AsyncHttpTransport
from .errors import WeirError
from .record_types import AsyncByType, RecordType
from .aio_recorder import AsyncRecorder
from .resources import Filter, Json, RequestOutcome, Types
from .sending.held import RecorderOptions
from .sending.imports import ImportBody, ImportOptions, ImportResult, import_body
from .sending.records import Source
from .sending.send import SendOptions, SendResult
from .sending.upload import Callback, UploadOptions, UploadSummary, upload_all

T = TypeVar("T")
Item = TypeVar("Item")


class _Part:
    def __init__(self, driver: AsyncDriver, settings: Settings) -> None:
        self._driver = driver
        self._settings = settings

    async def _run(self, work: Work[T]) -> T:
        return await self._driver.run(work)

    async def _list(self, path: str, name: str, filter: Optional[Filter], page_size: Optional[int]) -> AsyncIterator[Json]:
        """Everything that a list has, page after page; a page is asked for when the one before it is used up."""
        cursor: Optional[str] = None
        while True:
            page = await self._run(resources.page_of(self._settings, path, name, filter, page_size, cursor))
            for item in page.items:
                yield item
            cursor = page.next
            if cursor is None:
                return


class Uploads(_Part, Generic[Item]):
    """What can be done with records of one type: `type` is its path segment, `limit` how many one request may carry."""

    def __init__(self, driver: AsyncDriver, settings: Settings, kind: RecordType) -> None:
        super().__init__(driver, settings)
        self._kind = kind
        self.type = kind.name
        self.id = kind.id
        self.limit = kind.limit

    async def send(
        self,
        records: Sequence[Item],
        *,
        dry_run: bool = False,
        if_version: Optional[Sequence[Optional[int]]] = None,
        idempotency_key: Optional[str] = None,
        missing_references: Optional[str] = None,
        wait_for: Optional[str] = None,
    ) -> SendResult:
        """Sends records as one request, again where that may help, and returns when each of them is decided."""
        options = SendOptions(dry_run, if_version, idempotency_key, missing_references, wait_for)
        return await self._run(resources.send(self._settings, self._kind, records, options))

    async def upload(
        self,
        records: Source,
        *,
        dry_run: bool = False,
        missing_references: Optional[str] = None,
        wait_for: Optional[str] = None,
        in_flight: float = 4,
        batch_size: Optional[int] = None,
        on_refused: Callback = None,
        on_waiting: Callback = None,
        on_progress: Callback = None,
    ) -> UploadSummary:
        """Sends any number of records, cut into requests, a few at a time: of an iterable, a data frame, or a file by its path."""
        send = SendOptions(dry_run=dry_run, missing_references=missing_references, wait_for=wait_for)
        options = UploadOptions(in_flight, batch_size, on_refused, on_waiting, on_progress)
        return await self._run(upload_all(self._settings, self._kind, records, send, options))

    async def import_file(
        self,
        body: ImportBody,
        *,
        format: Optional[str] = None,
        gzipped: Optional[bool] = None,
        dry_run: bool = False,
        idempotency_key: Optional[str] = None,
        missing_references: Optional[str] = None,
        wait_for: Optional[str] = None,
        on_refused: Callback = None,
        on_waiting: Callback = None,
        on_progress: Callback = None,
    ) -> ImportResult:
        """Sends CSV or NDJSON of any length as it is, in one request that is gone on with where it is cut off."""
        send = SendOptions(dry_run, None, idempotency_key, missing_references, wait_for)
        options = ImportOptions(format, gzipped, on_refused, on_waiting, on_progress)
        return await self._run(import_body(self._settings, self._kind, body, send, options))


class Interactions(Uploads[Item]):
    async def record(
        self,
        interaction: Item,
        *,
        idempotency_key: Optional[str] = None,
        missing_references: Optional[str] = None,
        wait_for: Optional[str] = None,
    ) -> Json:
        """Records one interaction: one, however often it is sent, or this is called with the same key."""
        return await self._run(resources.record_interaction(self._settings, interaction, idempotency_key, missing_references, wait_for))

    def list(self, filter: Optional[Filter] = None, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        """Your organisation's interactions, newest first. What was recorded a moment ago may not be there yet."""
        return self._list("/user-interactions", "interactions", filter, page_size)


class Feeds(_Part):
    """What was accepted for your organisation, in order by record, each at least once.

    Apply an event where its `version` is higher than the one that you have of its `type` and `id`.
    """

    async def page(self, types: Types, *, after: Any = None, limit: Optional[int] = None, wait: Optional[str] = None) -> Json:
        """`events`, and `next`: where to go on once all of them are done with. `types` is one type, several, or "all"."""
        return await self._run(resources.feed_page(self._settings, types, after, limit, wait))

    def read(
        self,
        types: Types,
        *,
        after: Any = None,
        limit: Optional[int] = None,
        wait: Optional[str] = None,
        store: Optional[Store] = None,
    ) -> EventReader:
        """The events one by one. Without `wait` it ends where there is no more for now; with it (`"30s"`), it goes on for ever.

        `store` is a path, or anything with `load` and `save`: its cursor is gone on from, before `after`, and it is given the next one
        each time that all events of a page were taken.
        """
        return EventReader(self, types, after, limit, wait, store)


class EventReader:
    """`cursor` is where to go on after the pages of which every event was taken."""

    def __init__(
        self, feeds: Feeds, types: Types, after: Any, limit: Optional[int], wait: Optional[str], store: Optional[Store]
    ) -> None:
        self._feeds = feeds
        self._types = types
        self._after = after
        self._limit = limit
        self._wait = wait
        self._store = store_of(store)
        self._events: Optional[AsyncIterator[Json]] = None
        self.cursor: Optional[str] = None

    def __aiter__(self) -> EventReader:
        return self

    async def __anext__(self) -> Json:
        if self._events is None:
            self._events = self._read()
        return await self._events.__anext__()

    async def _read(self) -> AsyncIterator[Json]:
        after = (await waited(self._store.load()) if self._store else None) or self._after
        while True:
            page = await self._feeds.page(self._types, after=after, limit=self._limit, wait=self._wait)
            for event in page["events"]:
                yield event
            # Whoever asks for the event after the last one of a page is done with that.
            after = page["next"]
            if self._store and after != self.cursor:
                await waited(self._store.save(after))
            self.cursor = after
            if not page["events"] and self._wait is None:
                return


class Requests(_Part):
    async def get(self, request_id: str) -> RequestOutcome:
        """What became of a request, by the id that its answer, or the error in its place, had."""
        return await self._run(resources.get_request(self._settings, request_id))


class Rejections(_Part):
    def list(self, filter: Optional[Filter] = None, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        """Your organisation's refused records, newest first, with what became of them since."""
        return self._list("/v1/rejections", "rejections", filter, page_size)

    async def summary(self, filter: Optional[Filter] = None) -> List[Json]:
        """The same, counted by type, code and field."""
        path = f"/v1/rejections/summary{query_of(filter or {})}"
        return await self._run(resources.get(self._settings, path, "groups"))

    async def values(self, filter: Filter) -> List[Json]:
        """What stands in a field of refused records with a problem in it, the commonest value first."""
        return await self._run(resources.get(self._settings, f"/v1/rejections/values{query_of(filter)}", "values"))

    async def retry(
        self,
        filter: Filter,
        *,
        dry_run: bool = False,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        change: Optional[Filter] = None,
        idempotency_key: Optional[str] = None,
    ) -> Json:
        """Has refused records submitted again, each at most once; `get_retry` says what came of it."""
        work = resources.retry_rejections(self._settings, filter, dry_run, limit, cursor, change, idempotency_key)
        return await self._run(work)

    async def get_retry(self, request_id: str) -> Json:
        return await self._run(resources.get(self._settings, resources.retry_path(request_id)))


class Quality(_Part):
    async def get(self, days: Optional[Filter] = None) -> List[Json]:
        """How many records came and how good they were, by type and day: `from` and `to`, like 2026-01-31, both included."""
        return await self._run(resources.get(self._settings, f"/v1/quality{query_of(days or {})}", "days"))


class WaitingRecords(_Part):
    def list(self, filter: Optional[Filter] = None, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        """What your records wait for, that which is waited for the longest first."""
        return self._list("/v1/waiting", "missing", filter, page_size)

    def records(self, filter: Optional[Filter] = None, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        """Your records that wait, the oldest first."""
        return self._list("/v1/waiting/records", "records", filter, page_size)

    async def cancel(self, filter: Filter) -> int:
        """Has records wait no longer: one, by type and id, or all that wait for the same. Returns how many waited until now."""
        return await self._run(resources.cancel_waiting(self._settings, filter))


class Persons(_Part):
    """For a key with the scope `persons:read`."""

    async def export(self, person_id: str) -> Json:
        """Everything that is kept about a person: a customer_id, student_id or user_id. That it was asked for is in the audit.

        It is held in memory; for a person with a million interactions ask for `GET /v1/persons/{id}/export` yourself, into a file.
        """
        export: Json = await self._run(resources.get(self._settings, resources.person_path(person_id)))
        return export


class Erasures(_Part):
    """For a key with the scope `persons:erase`."""

    async def ask(self, person_id: str, *, mode: str, dry_run: bool = False, afterwards: Optional[str] = None) -> Json:
        """Has a person forgotten: a customer_id, student_id or user_id. Nothing brings one back.

        With `mode="erase"` all records that name the person go; with `"pseudonymise"` transactions and interactions stay for sums, without
        the person. `dry_run` only counts. Later uploads that name the person are refused, or with `afterwards="new"` taken as those of
        somebody new. Asked again while it runs, it is the same erasure.
        """
        return await self._run(resources.ask_erasure(self._settings, person_id, mode, dry_run, afterwards))

    async def find(self, erasure_id: str) -> Json:
        """With its `proof`, once it is done."""
        return await self._run(resources.find_erasure(self._settings, erasure_id))

    async def until_done(self, erasure_id: str, *, every: float = 2.0, on_step: Callback = None) -> Json:
        """Waits until it is done, a minute or more, looking every so many seconds. Raises a WeirError where it has failed."""
        return await self._run(resources.until_erased(self._settings, erasure_id, every, on_step))

    async def list(self) -> List[Json]:
        """The newest first, at most 1000. They name nobody."""
        return await self._run(resources.get(self._settings, "/v1/erasures", "erasures"))


class Keys(_Part):
    """For a key with the scope `keys:manage`: the keys of its organisation."""

    def list(self, filter: Optional[Filter] = None, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        return self._list("/v1/keys", "keys", filter, page_size)

    async def issue(self, wanted: Optional[Filter] = None, *, idempotency_key: Optional[str] = None) -> Json:
        """Makes a key, with no scope that yours lacks and no longer life than yours."""
        return await self._make("/v1/keys", wanted, idempotency_key)

    async def rotate(self, key_id: str, how: Optional[Filter] = None, *, idempotency_key: Optional[str] = None) -> Json:
        """Makes a key like this one, which ends after a day, or after `grace_seconds`."""
        return await self._make(f"{resources.key_path(key_id)}/rotate", how, idempotency_key)

    async def rename(self, key_id: str, name: Optional[str]) -> None:
        await self._run(resources.post(self._settings, resources.key_path(key_id), {"name": name}, None, "PATCH"))

    async def revoke(self, key_id: str) -> str:
        """Ends a key for good, and returns when it was ended."""
        said = await self._run(resources.post(self._settings, f"{resources.key_path(key_id)}/revoke", "{}"))
        ended: str = said["revoked_at"]
        return ended

    async def _make(self, path: str, body: Optional[Filter], key: Optional[str]) -> Json:
        return await self._run(resources.post(self._settings, path, dict(body or {}), key or new_key()))


class Audit(_Part):
    def list(self, *, page_size: Optional[int] = None) -> AsyncIterator[Json]:
        """What was done with your keys, limits, records and persons, and by whom; the newest first."""
        return self._list("/v1/audit", "done", None, page_size)

    async def verify(self, head: Optional[str] = None) -> Json:
        """Whether it still stands as it was written. With a `head` of an earlier answer also whether newer entries were cut off."""
        return await self._run(resources.get(self._settings, "/v1/audit/verification" + query_of({"head": head})))


class AsyncWeir(AsyncByType):
    """Weir at `url`, asked with `key`. An attribute for each type, `of` for one by its name, and the rest by subject.

    `give_up_after` is for how many seconds a request is tried; `on_retry` is called before each wait for another attempt. Other connections
    (a proxy, certificates of one's own) come as `http`, a client of httpx.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        give_up_after: float = 600,
        on_retry: OnRetry = None,
        http: Any = None,
        driver: Optional[AsyncDriver] = None,
    ) -> None:
        self._driver = driver or AsyncDriver(AsyncHttpTransport(http), AsyncClock())
        clock = self._driver.clock
        self._begin(Settings(_read_url(url), _read_key(key), clock.now, clock.wall, give_up_after, on_retry))

    def _begin(self, settings: Settings) -> None:
        self._settings = settings
        self._set_types(self.of)
        parts = (self._driver, settings)
        self.interactions: Interactions[Any] = Interactions(*parts, resources.type_named("interactions"))
        self.feeds = Feeds(*parts)
        self.requests = Requests(*parts)
        self.rejections = Rejections(*parts)
        self.quality = Quality(*parts)
        self.waiting = WaitingRecords(*parts)
        self.persons = Persons(*parts)
        self.erasures = Erasures(*parts)
        self.keys = Keys(*parts)
        self.audit = Audit(*parts)

    def of(self, type: str) -> Uploads[Any]:
        """What can be done with records of a type, by its path segment, like `shop-categories`."""
        return Uploads(self._driver, self._settings, resources.type_named(type))

    def recorder(
        self,
        *,
        batch_size: int = 500,
        every: float = 1.0,
        most_bytes: int = 8 * 1024 * 1024,
        when_full: str = "refuse",
        missing_references: Optional[str] = None,
        wait_for: Optional[str] = None,
        on_refused: Callback = None,
        on_lost: Callback = None,
    ) -> AsyncRecorder:
        """For interactions that come one by one, and are to be sent many at a time."""
        options = RecorderOptions(batch_size, every, most_bytes, when_full, missing_references, wait_for, on_refused, on_lost)
        return AsyncRecorder(self._driver, self._settings, options)

    def trying(self, *, give_up_after: float = 600, on_retry: OnRetry = None) -> AsyncWeir:
        """The same, with other patience."""
        other = object.__new__(AsyncWeir)
        other._driver = self._driver
        other._begin(dataclasses.replace(self._settings, give_up_after=give_up_after, on_retry=on_retry))
        return other

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> AsyncWeir:
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()


def _read_url(given: str) -> str:
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WeirError("usage", f"{given!r} is no url of http", "give Weir its url, like https://weir.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise WeirError("usage", "the url must have no user, query or fragment", "give Weir its url alone")
    return given.rstrip("/")


def _read_key(key: str) -> str:
    # Whatever else is in it would end in an error that shows the whole header.
    if isinstance(key, str) and key and all("!" <= letter <= "~" for letter in key):
        return key
    raise WeirError(
        "usage",
        "the key is empty or has characters that no key has",
        "give Weir the key as the operator issued it, without blanks or line ends",
    )
