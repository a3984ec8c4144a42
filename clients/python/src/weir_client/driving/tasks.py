"""Lets the rules go on in a program with asyncio: each piece of work is a task."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Optional, Protocol, Set, TypeVar

from .steps import END, Answered, Ask, Begin, Close, NextLine, Open, Pause, Rest, Step, Take, Tell, Wait, Work

T = TypeVar("T")


class AsyncStream(Protocol):
    status: int
    headers: Mapping[str, str]

    async def next_line(self) -> Optional[str]: ...
    async def rest(self) -> str: ...
    async def close(self) -> None: ...


class AsyncTransport(Protocol):
    async def ask(self, ask: Ask) -> Answered: ...
    async def open(self, ask: Ask) -> AsyncStream: ...
    async def close(self) -> None: ...


class AsyncClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class AsyncDriver:
    def __init__(self, transport: AsyncTransport, clock: AsyncClock) -> None:
        self.transport = transport
        self.clock = clock

    async def run(self, work: Work[T]) -> T:
        return await _Run(self.transport, self.clock).to_end(work)

    async def close(self) -> None:
        await self.transport.close()


class _Run:
    """One call: its own work, and what it began beside that."""

    def __init__(self, transport: AsyncTransport, clock: AsyncClock) -> None:
        self.transport = transport
        self.clock = clock
        self._streams: Set[AsyncStream] = set()

    async def to_end(self, work: Work[T]) -> T:
        beside: Set[asyncio.Task[None]] = set()
        try:
            return await self._drive(work, beside)
        finally:
            # Where the caller cancelled it: nothing goes on behind its back, and nothing stays open.
            left = list(beside)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
            for stream in list(self._streams):
                await self._shut(stream)

    async def _shut(self, stream: AsyncStream) -> None:
        self._streams.discard(stream)
        await stream.close()

    async def _drive(self, work: Work[T], beside: Set[asyncio.Task[None]]) -> T:
        value: Any = None
        error: Optional[BaseException] = None
        try:
            while True:
                try:
                    step = work.send(value) if error is None else work.throw(error)
                except StopIteration as end:
                    result: T = end.value
                    return result
                value, error = None, None
                if isinstance(step, Begin):
                    task = asyncio.ensure_future(self._drive(step.work, beside))
                    beside.add(task)
                    task.add_done_callback(beside.discard)
                    continue
                try:
                    value = await self._perform(step)
                except Exception as reason:
                    error = reason
        finally:
            work.close()

    async def _perform(self, step: Step) -> Any:
        if isinstance(step, Ask):
            return await asyncio.wait_for(self.transport.ask(step), step.within)
        if isinstance(step, Open):
            stream = await self.transport.open(step.ask)
            self._streams.add(stream)
            return stream
        if isinstance(step, NextLine):
            return await step.stream.next_line()
        if isinstance(step, Rest):
            return await step.stream.rest()
        if isinstance(step, Close):
            return await self._shut(step.stream)
        if isinstance(step, Pause):
            return await self.clock.sleep(step.seconds)
        if isinstance(step, Tell):
            returned = step.work(*step.arguments)
            return await returned if inspect.isawaitable(returned) else returned
        if isinstance(step, Wait):
            happened = asyncio.get_running_loop().create_future()
            step.signal.then(lambda: None if happened.done() else happened.set_result(None))
            return await happened
        if isinstance(step, Take):
            return await _next_of(step)
        raise TypeError(f"there is no step {step}")


async def _next_of(step: Take) -> Any:
    if step.stop.is_set:
        return END
    if not isinstance(step.items, AsyncIterator):
        # Lets answers be read between two records.
        await asyncio.sleep(0)
        return next(step.items, END)
    reading = asyncio.ensure_future(step.items.__anext__())
    stopped = asyncio.get_running_loop().create_future()
    step.stop.then(lambda: None if stopped.done() else stopped.set_result(None))
    try:
        await asyncio.wait([reading, stopped], return_when=asyncio.FIRST_COMPLETED)
        if not reading.done():
            return END
        return reading.result()
    except StopAsyncIteration:
        return END
    finally:
        stopped.cancel()
        reading.cancel()


class AsyncHttpTransport:
    def __init__(self, client: Any = None) -> None:
        import httpx

        self._is_own = client is None
        self._client = client or httpx.AsyncClient(follow_redirects=False)

    async def ask(self, ask: Ask) -> Answered:
        content = ask.content() if callable(ask.content) else ask.content
        response = await self._client.request(ask.method, ask.url, headers=ask.headers, content=content, timeout=ask.within)
        return Answered(response.status_code, response.headers, response.text)

    async def open(self, ask: Ask) -> AsyncStream:
        content = _each(ask.content()) if callable(ask.content) else ask.content
        request = self._client.build_request(ask.method, ask.url, headers=ask.headers, content=content, timeout=ask.within)
        return _AsyncHttpStream(await self._client.send(request, stream=True))

    async def close(self) -> None:
        if self._is_own:
            await self._client.aclose()


async def _lines_of(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    # Not aiter_lines: to that a line also ends at characters that stand in the texts of JSON.
    rest = ""
    async for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        for line in lines:
            yield line
    if rest.strip():
        raise ConnectionError("the answer was cut off")


async def _each(pieces: Any) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


class _AsyncHttpStream:
    def __init__(self, response: Any) -> None:
        self._response = response
        self._lines = _lines_of(response.aiter_text())
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    async def next_line(self) -> Optional[str]:
        async for line in self._lines:
            return line
        return None

    async def rest(self) -> str:
        await self._response.aread()
        text: str = self._response.text
        return text

    async def close(self) -> None:
        await self._response.aclose()
