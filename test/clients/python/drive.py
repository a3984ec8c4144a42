"""Does with the SDK for Python what the calls of clients/conformance say: a call in JSON on each line of its input, what came of it on each line of its output.

With `--scripted` the requests go the same way, each with the moment at which it is made, and the clock is one of the test's own: waiting
costs no time, and no package is needed. With `--aio` it is the client for asyncio that does it.
"""

import asyncio
import dataclasses
import datetime
import json
import re
import sys
from concurrent.futures import Executor, Future

from weir_client import AsyncWeir, Weir, WeirError, verify_webhook
from weir_client.driving.tasks import AsyncDriver
from weir_client.driving.threads import Driver
from weir_client.driving.steps import Answered

START = 1_700_000_000.0


class Clock:
    def __init__(self):
        self.passed = 0.0

    def now(self):
        return self.passed

    def wall(self):
        return START + self.passed

    def sleep(self, seconds):
        self.passed += seconds


class AsyncClock(Clock):
    async def sleep(self, seconds):
        self.passed += seconds


def say(what):
    print(json.dumps(what, ensure_ascii=False), flush=True)


class Script:
    """Requests over the output of this program, answers over its input."""

    def __init__(self, clock):
        self._clock = clock

    def ask(self, ask):
        content = ask.content
        if callable(content):
            content = content()
        if content is not None and not isinstance(content, bytes):
            content = b"".join(content)
        say(
            {
                "request": {"method": ask.method, "url": ask.url, "headers": ask.headers},
                "body": None if content is None else content.decode(),
                "at": round(self._clock.wall() * 1000),
            }
        )
        answer = json.loads(sys.stdin.readline())
        if answer == "none":
            raise ConnectionError("the connection broke")
        return Answered(answer["status"], answer["headers"], answer["text"])

    def open(self, ask):
        return Stream(self.ask(ask))

    def close(self):
        pass


class AsyncScript(Script):
    async def ask(self, ask):
        return super().ask(ask)

    async def open(self, ask):
        return AsyncStream(super().ask(ask))

    async def close(self):
        pass


class Stream:
    def __init__(self, answered):
        self.status = answered.status
        self.headers = answered.headers
        self._text = answered.text
        self._lines = iter(answered.text.splitlines())

    def next_line(self):
        return next(self._lines, None)

    def rest(self):
        return self._text

    def close(self):
        pass


class AsyncStream(Stream):
    async def next_line(self):
        return super().next_line()

    async def rest(self):
        return super().rest()

    async def close(self):
        pass


class AtOnce(Executor):
    """Requests in the order in which they are begun, which threads do not keep."""

    def submit(self, work, *arguments):
        future = Future()
        try:
            future.set_result(work(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def snake(name):
    return re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), name)


def camel(name):
    return re.sub(r"_(.)", lambda letter: letter.group(1).upper(), name)


def plain(value):
    """As the cases write it: names of results in camel case, without what is not there."""
    if dataclasses.is_dataclass(value):
        named = {camel(each.name): getattr(value, each.name) for each in dataclasses.fields(value)}
        for absent in ("id", "line", "record", "requestId"):
            if named.get(absent, "") is None:
                del named[absent]
        if "missing" in named:
            named["for"] = named.pop("missing")
        return plain(named)
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


async def perform(call, url, key, is_scripted, is_aio):
    options = {snake(name): value for name, value in call.get("options", {}).items()}
    trying = {}
    if "give_up_after_ms" in options:
        trying["give_up_after"] = options.pop("give_up_after_ms") / 1000
    driver = None
    if is_scripted:
        clock = AsyncClock() if is_aio else Clock()
        clock.passed = Script.passed
        driver = AsyncDriver(AsyncScript(clock), clock) if is_aio else Driver(Script(clock), clock, AtOnce())

    async def waited(given):
        return await given if is_aio else given

    async def all_of(items):
        return [each async for each in items] if is_aio else list(items)

    try:
        weir = (AsyncWeir if is_aio else Weir)(url, call.get("key", key), driver=driver, **trying)
        do, filter = call["do"], call.get("filter")
        subject, _, name = do.rpartition(".")
        if do == "webhooks.verify":
            at = datetime.datetime.fromisoformat(call["at"].replace("Z", "+00:00"))
            return verify_webhook(call["secrets"], call["headers"], call["body"], at=at)
        if do == "send":
            return await waited(weir.of(call["type"]).send(call["records"], **options))
        if do in ("upload", "import"):
            told, told_waiting = [], []
            if do == "upload":
                summary = await waited(weir.of(call["type"]).upload(call["records"], **options, on_refused=told.append))
                return {**plain(summary), "told": told}
            upload = weir.of(call["type"]).import_file
            body = call["body"].encode()
            summary = await waited(upload(body, **options, on_refused=told.append, on_waiting=told_waiting.append))
            return {**plain(summary), "told": told, "toldWaiting": told_waiting}
        part = getattr(weir, subject)
        function = getattr(part, snake(name))
        if do == "feeds.read":
            return await all_of(function(call["type"], **options))
        if do == "feeds.page":
            return await waited(function(call["type"], **options))
        if do == "audit.list":
            return await all_of(function(**options))
        if do == "erasures.list":
            return await waited(function(**options))
        if do == "erasures.ask":
            wanted = {snake(name): value for name, value in call["wanted"].items()}
            return await waited(function(call["personId"], **wanted, **options))
        if name == "list" or do == "waiting.records":
            return await all_of(function(filter, **options))
        given = {
            "interactions.record": ["interaction"],
            "requests.get": ["requestId"],
            "rejections.getRetry": ["requestId"],
            "quality.get": ["days"],
            "keys.issue": ["wanted"],
            "keys.rename": ["keyId", "name"],
            "keys.rotate": ["keyId", "wanted"],
            "keys.revoke": ["keyId"],
            "audit.verify": ["head"],
            "persons.export": ["personId"],
            "erasures.find": ["erasureId"],
            "erasures.untilDone": ["erasureId"],
        }.get(do, ["filter"])
        return await waited(function(*[call.get(each) for each in given], **options))
    finally:
        if is_scripted:
            Script.passed = clock.passed


Script.passed = 0.0


async def main():
    is_scripted, is_aio = "--scripted" in sys.argv, "--aio" in sys.argv
    for line in sys.stdin:
        given = json.loads(line)
        try:
            returned = await perform(given["call"], given["url"], given["key"], is_scripted, is_aio)
            say({"returned": plain(returned)})
        except WeirError as error:
            names = ("kind", "message", "remedy", "status", "request_id", "idempotency_key", "problems", "conflicts", "restart")
            said = {camel(name): getattr(error, name) for name in names}
            said["progress"] = plain(error.progress)
            say({"failed": said})
        except Exception as error:
            say({"broke": repr(error)})


sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
asyncio.run(main())
