"""Sends interactions that come one by one many at a time, each of them effectively once; from a thread of its own."""

from __future__ import annotations

import atexit
import dataclasses
import threading
import time
from typing import Any, List, Optional

from .call import Settings
from .driving.threads import Driver
from .errors import WeirError
from .sending.held import CLOSED, REST, ROUND, Held, RecorderCounts, RecorderLoss, RecorderOptions, too_late


class Recorder:
    """Callbacks are called in the thread that sends. What is held at the end of the program is sent then, for up to ten seconds."""

    def __init__(self, driver: Driver, settings: Settings, options: RecorderOptions) -> None:
        self._driver = driver
        self._settings = settings
        self._every = options.every
        self._on_lost = options.on_lost
        self._held = Held(options)
        self._is_closed = threading.Event()
        # Whether there is something, and whether there is enough not to wait for more.
        self._is_some = threading.Event()
        self._is_enough = threading.Event()
        self._sending = threading.Lock()
        self._thread = threading.Thread(target=self._work, daemon=True, name="weir-recorder")
        self._thread.start()
        atexit.register(self.close)

    def record(self, interaction: Any) -> bool:
        """Takes an interaction as it is now, to be sent soon. False where it is full, and this one was not taken."""
        if self._is_closed.is_set():
            raise WeirError(*CLOSED)
        is_taken, is_enough, lost = self._held.add(interaction)
        self._tell(lost)
        self._is_some.set()
        if is_enough:
            self._is_enough.set()
        return is_taken

    def flush(self) -> RecorderCounts:
        """Sends what is held; raises where some of it cannot be sent now, which is then tried again later."""
        self._send(time.monotonic() + ROUND)
        return self.counts()

    def close(self, *, within: float = 10) -> RecorderCounts:
        """Ends the recorder. What cannot be sent within so many seconds is handed to `on_lost`."""
        atexit.unregister(self.close)
        self._is_closed.set()
        self._is_some.set()
        self._is_enough.set()
        ends_at = time.monotonic() + within
        error: Optional[WeirError] = None
        while self.counts().held and time.monotonic() < ends_at:
            try:
                self._send(ends_at)
            except WeirError as reason:
                error = reason
        self._tell(self._held.lose_all(error or too_late(within)))
        return self.counts()

    def counts(self) -> RecorderCounts:
        return self._held.counts()

    def _work(self) -> None:
        while not self._is_closed.is_set():
            self._is_some.wait()
            self._is_enough.wait(self._every)
            self._is_some.clear()
            self._is_enough.clear()
            if self._is_closed.is_set():
                return
            try:
                self._send(time.monotonic() + ROUND)
            except WeirError:
                # It is held, and tried again after a rest.
                self._is_closed.wait(REST)
                self._is_some.set()

    def _send(self, ends_at: float) -> None:
        if not self._sending.acquire(timeout=max(0.0, ends_at - time.monotonic())):
            return
        try:
            chunks = self._held.take_all()
            while chunks:
                settings = dataclasses.replace(self._settings, give_up_after=max(0.01, ends_at - time.monotonic()))
                try:
                    self._driver.run(self._held.deliver(settings, chunks[0]))
                except WeirError as error:
                    if error.kind in ("network", "server"):
                        self._held.put_back(chunks)
                    else:
                        # A callback of the caller failed: what was sent is sent.
                        self._held.put_back(chunks[1:])
                    raise
                chunks.pop(0)
        finally:
            self._sending.release()

    def _tell(self, lost: List[RecorderLoss]) -> None:
        for each in lost:
            if self._on_lost:
                self._on_lost(each)
