"""Sends interactions that come one by one many at a time, each of them effectively once; from a task of its own."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import time
from typing import Any, List, Optional

from .call import Settings
from .driving.tasks import AsyncDriver
from .errors import WeirError
from .sending.held import CLOSED, REST, ROUND, Held, RecorderCounts, RecorderLoss, RecorderOptions, too_late


class AsyncRecorder:
    """Use it in the loop in which it was made, and await `close()` at the end: asyncio ends tasks with its loop."""

    def __init__(self, driver: AsyncDriver, settings: Settings, options: RecorderOptions) -> None:
        self._driver = driver
        self._settings = settings
        self._every = options.every
        self._on_lost = options.on_lost
        self._held = Held(options)
        self._is_closed = False
        # Whether there is something, and whether there is enough not to wait for more.
        self._is_some = asyncio.Event()
        self._is_enough = asyncio.Event()
        self._sending = asyncio.Lock()
        self._lost: List[RecorderLoss] = []
        self._task = asyncio.ensure_future(self._work())

    def record(self, interaction: Any) -> bool:
        """Takes an interaction as it is now, to be sent soon. False where it is full, and this one was not taken."""
        if self._is_closed:
            raise WeirError(*CLOSED)
        is_taken, is_enough, lost = self._held.add(interaction)
        self._lost.extend(lost)
        self._is_some.set()
        if is_enough or lost:
            self._is_enough.set()
        return is_taken

    async def flush(self) -> RecorderCounts:
        """Sends what is held; raises where some of it cannot be sent now, which is then tried again later."""
        await self._send(time.monotonic() + ROUND)
        return self.counts()

    async def close(self, *, within: float = 10) -> RecorderCounts:
        """Ends the recorder. What cannot be sent within so many seconds is handed to `on_lost`."""
        self._is_closed = True
        ends_at = time.monotonic() + within
        error: Optional[WeirError] = None
        while self.counts().held and time.monotonic() < ends_at:
            try:
                await asyncio.wait_for(self._send(ends_at), max(0.01, ends_at - time.monotonic()))
            except WeirError as reason:
                error = reason
            except asyncio.TimeoutError:
                break
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._lost.extend(self._held.lose_all(error or too_late(within)))
        await self._tell()
        return self.counts()

    def counts(self) -> RecorderCounts:
        return self._held.counts()

    async def _work(self) -> None:
        while True:
            await self._is_some.wait()
            try:
                await asyncio.wait_for(self._is_enough.wait(), self._every)
            except asyncio.TimeoutError:
                pass
            self._is_some.clear()
            self._is_enough.clear()
            try:
                await self._send(time.monotonic() + ROUND)
            except WeirError:
                # It is held, and tried again after a rest.
                await asyncio.sleep(REST)
                self._is_some.set()

    async def _send(self, ends_at: float) -> None:
        async with self._sending:
            await self._tell()
            chunks = self._held.take_all()
            try:
                while chunks:
                    settings = dataclasses.replace(self._settings, give_up_after=max(0.01, ends_at - time.monotonic()))
                    await self._driver.run(self._held.deliver(settings, chunks[0]))
                    chunks.pop(0)
            except WeirError as error:
                # Where a callback of the caller failed, what was sent is sent.
                self._held.put_back(chunks if error.kind in ("network", "server") else chunks[1:])
                raise
            except asyncio.CancelledError:
                self._held.put_back(chunks)
                raise

    async def _tell(self) -> None:
        lost, self._lost = self._lost, []
        for each in lost:
            told = self._on_lost(each) if self._on_lost else None
            if inspect.isawaitable(told):
                await told
