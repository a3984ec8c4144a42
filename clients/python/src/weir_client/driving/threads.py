"""Lets the rules go on in a program without asyncio: all of the caller's code runs in its own thread, and only requests in others."""

from __future__ import annotations

import heapq
import inspect
import itertools
import queue
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Callable, Deque, List, Optional, Protocol, Tuple, TypeVar

from ..errors import WeirError
from .steps import END, Answered, Ask, Begin, Close, NextLine, Open, Pause, Rest, Step, Take, Tell, Wait, Work

T = TypeVar("T")


class Stream(Protocol):
    status: int
    headers: Mapping[str, str]

    def next_line(self) -> Optional[str]: ...
    def rest(self) -> str: ...
    def close(self) -> None: ...


class Transport(Protocol):
    def ask(self, ask: Ask) -> Answered: ...
    def open(self, ask: Ask) -> Stream: ...
    def close(self) -> None: ...


class Clock:
    """Seconds that never jump, seconds since 1970, and waiting."""

    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class Driver:
    def __init__(self, transport: Transport, clock: Clock, executor: Optional[Executor] = None) -> None:
        self.transport = transport
        self.clock = clock
        self._executor = executor

    def run(self, work: Work[T]) -> T:
        run = _Run(self.transport, self.clock, self._threads)
        result: T = run.to_end(work)
        return result

    def _threads(self) -> Executor:
        # Made when two requests are under way at once for the first time: most programs need none.
        if self._executor is None:
            self._executor = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="weir")
        return self._executor

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False)
        self.transport.close()


# One for each request under way, made when it is needed: how many those are is for `in_flight` to say.
_MOST_THREADS = 1000

_Job = Generator[Step, Any, Any]


class _Run:
    """One call: its own work, and what it began beside that."""

    def __init__(self, transport: Transport, clock: Clock, threads: Callable[[], Executor]) -> None:
        self._transport = transport
        self._clock = clock
        self._threads = threads
        self._ready: Deque[Tuple[_Job, Any, Optional[BaseException]]] = deque()
        self._timers: List[Tuple[float, int, _Job]] = []
        self._number = itertools.count()
        self._asked = 0
        self._answers: queue.SimpleQueue[Tuple[_Job, Future[Any]]] = queue.SimpleQueue()
        self._jobs: List[_Job] = []
        self._streams: List[Stream] = []

    def to_end(self, main: Work[T]) -> Any:
        self._begin(main)
        try:
            while True:
                self._collect(wait=not self._ready)
                if not self._ready:
                    continue
                job, value, error = self._ready.popleft()
                try:
                    step = job.send(value) if error is None else job.throw(error)
                except StopIteration as end:
                    self._jobs.remove(job)
                    if job is main:
                        return end.value
                    continue
                self._take_step(job, step)
        finally:
            # Where the caller ended it, as with Ctrl-C: what they hold is let go.
            for job in self._jobs:
                job.close()
            for stream in list(self._streams):
                self._shut(stream)

    def _shut(self, stream: Stream) -> None:
        self._streams.remove(stream)
        stream.close()

    def _begin(self, job: _Job) -> None:
        self._jobs.append(job)
        self._ready.append((job, None, None))

    def _take_step(self, job: _Job, step: Step) -> None:
        if isinstance(step, Ask) and len(self._jobs) > 1:
            self._asked += 1
            asked = self._threads().submit(self._transport.ask, step)
            asked.add_done_callback(lambda future: self._answers.put((job, future)))
        elif isinstance(step, Pause):
            heapq.heappush(self._timers, (self._clock.now() + step.seconds, next(self._number), job))
        elif isinstance(step, Wait):
            step.signal.then(lambda: self._ready.append((job, None, None)))
        elif isinstance(step, Begin):
            self._begin(step.work)
            self._ready.append((job, None, None))
        else:
            try:
                self._ready.append((job, self._perform(step), None))
            except Exception as error:
                self._ready.append((job, None, error))

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Ask):
            return self._transport.ask(step)
        if isinstance(step, Open):
            stream = self._transport.open(step.ask)
            self._streams.append(stream)
            return stream
        if isinstance(step, NextLine):
            return step.stream.next_line()
        if isinstance(step, Rest):
            return step.stream.rest()
        if isinstance(step, Close):
            return self._shut(step.stream)
        if isinstance(step, Tell):
            returned = step.work(*step.arguments)
            if inspect.isawaitable(returned):
                raise WeirError("usage", "a callback is a coroutine", "give Weir plain functions, or use AsyncWeir")
            return returned
        if isinstance(step, Take):
            if step.stop.is_set:
                return END
            if not isinstance(step.items, Iterator):
                raise WeirError("usage", "the records come asynchronously", "use AsyncWeir")
            return next(step.items, END)
        raise TypeError(f"there is no step {step}")

    def _collect(self, wait: bool) -> None:
        """What was answered meanwhile, and whose time has come; waits for the first of these where nothing else can be done."""
        while self._asked:
            due = self._timers[0][0] - self._clock.now() if self._timers else None
            try:
                if wait and (due is None or due > 0):
                    job, future = self._answers.get(timeout=due)
                else:
                    job, future = self._answers.get_nowait()
            except queue.Empty:
                break
            self._asked -= 1
            wait = False
            error = future.exception()
            self._ready.append((job, None if error else future.result(), error))
        if not self._asked and wait and not self._ready and self._timers:
            self._clock.sleep(max(0.0, self._timers[0][0] - self._clock.now()))
        while self._timers and self._timers[0][0] <= self._clock.now():
            self._ready.append((heapq.heappop(self._timers)[2], None, None))


class HttpTransport:
    """Requests over connections that are kept. An answer's time is that between two of its pieces: httpx has no bound for the whole."""

    def __init__(self, client: Any = None) -> None:
        import httpx

        self._is_own = client is None
        self._client = client or httpx.Client(follow_redirects=False)

    def ask(self, ask: Ask) -> Answered:
        content = ask.content() if callable(ask.content) else ask.content
        response = self._client.request(ask.method, ask.url, headers=ask.headers, content=content, timeout=ask.within)
        return Answered(response.status_code, response.headers, response.text)

    def open(self, ask: Ask) -> Stream:
        content = ask.content() if callable(ask.content) else ask.content
        request = self._client.build_request(ask.method, ask.url, headers=ask.headers, content=content, timeout=ask.within)
        return _HttpStream(self._client.send(request, stream=True))

    def close(self) -> None:
        if self._is_own:
            self._client.close()


def _lines_of(pieces: Iterator[str]) -> Iterator[str]:
    # Not iter_lines: to that a line also ends at characters that stand in the texts of JSON.
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        yield from lines
    if rest.strip():
        raise ConnectionError("the answer was cut off")


class _HttpStream:
    def __init__(self, response: Any) -> None:
        self._response = response
        self._lines = _lines_of(response.iter_text())
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers

    def next_line(self) -> Optional[str]:
        return next(self._lines, None)

    def rest(self) -> str:
        self._response.read()
        text: str = self._response.text
        return text

    def close(self) -> None:
        self._response.close()
