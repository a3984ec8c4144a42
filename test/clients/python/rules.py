"""The promises of uploads and recorders, against a service in memory that keeps its own: see test/clients/typescript/fake-weir.ts."""

import asyncio
import json
import random
import threading
import unittest

from weir_client import AsyncWeir, Weir, WeirError
from weir_client.driving.steps import Answered
from weir_client.driving.tasks import AsyncClock, AsyncDriver
from weir_client.driving.threads import Clock, Driver


class Fake:
    """Decides each key once, and refuses records whose name is "bad". Whatever `mishaps` says goes wrong first."""

    def __init__(self, mishaps=()):
        self.mishaps = list(mishaps)
        self.decided = []
        self.clashes = []
        self.bodies = {}
        self.under_way = []
        self.most_under_way = 0
        self._lock = threading.Lock()

    def begin(self, ask):
        body = json.loads(ask.content)
        ids = [record.get("shop_id") for record in body["records"]]
        with self._lock:
            self.clashes += [each for each in ids if each and any(each in others for others in self.under_way)]
            self.under_way.append(ids)
            self.most_under_way = max(self.most_under_way, len(self.under_way))
            return ids, self.mishaps.pop(0) if self.mishaps else None

    def end(self, ask, ids, mishap):
        with self._lock:
            self.under_way.remove(ids)
            if mishap == "lost":
                raise ConnectionError("lost")
            if isinstance(mishap, int):
                return Answered(mishap, {}, "{}")
            records = json.loads(ask.content)["records"]
            key = ask.headers["idempotency-key"]
            if self.bodies.setdefault(key, ask.content) != ask.content:
                return Answered(409, {}, '{"message": "another body"}')
            if not any(key == known for known, _ in self.decided):
                self.decided.append((key, records))
            if mishap == "answer lost":
                raise ConnectionError("answer lost")
            problem = {"code": "bad_format", "field": "name", "message": "bad"}
            errors = [
                {"index": index, "id": record.get("shop_id"), "problems": [problem]}
                for index, record in enumerate(records)
                if record.get("name", record.get("user_id")) == "bad"
            ]
            batch = {"batch": 1, "status": 200, "data": {"error": None, "errors": errors}}
            return Answered(200, {}, json.dumps({"request_id": "r", "batches": [batch]}))

    def records(self):
        return [record for _, records in self.decided for record in records]


class Threads(Fake):
    def ask(self, ask):
        ids, mishap = self.begin(ask)
        threading.Event().wait(random.random() / 500)
        return self.end(ask, ids, mishap)

    def close(self):
        pass


class Tasks(Fake):
    async def ask(self, ask):
        ids, mishap = self.begin(ask)
        await asyncio.sleep(random.random() / 500)
        return self.end(ask, ids, mishap)

    async def close(self):
        pass


class Hasty:
    """A clock that waits for a hundredth of the time."""

    def __init__(self):
        import time

        self.now = self.wall = lambda: time.monotonic() * 100
        self._sleep = time.sleep

    def sleep(self, seconds):
        self._sleep(seconds / 100)


class AsyncHasty(Hasty):
    async def sleep(self, seconds):
        await asyncio.sleep(seconds / 100)


def shop(number, version, is_bad=False):
    return {"shop_id": f"shop-{number}", "name": "bad" if is_bad else f"good {version}", "region": "GB"}


ANY_MISHAP = [408, 429, 500, 502, 503, 504, "lost", "answer lost", None, None]


class Uploads(unittest.TestCase):
    def each_way(self, work, mishaps=()):
        """Does it with threads, and with asyncio."""
        fake = Threads(mishaps)
        weir = Weir("http://weir.test", "k", driver=Driver(fake, Hasty()))
        yield fake, lambda *args, **named: work(weir, *args, **named)
        fake = Tasks(mishaps)

        def in_loop(*args, **named):
            async def main():
                return await work(AsyncWeir("http://weir.test", "k", driver=AsyncDriver(fake, AsyncHasty())), *args, **named)

            return asyncio.run(main())

        yield fake, in_loop

    def test_each_record_is_decided_once_and_those_of_one_id_in_order(self):
        for seed in range(6):
            chance = random.Random(seed)
            given = [shop(chance.randrange(6), version, chance.random() < 0.2) for version in range(chance.randrange(60))]
            mishaps = [chance.choice(ANY_MISHAP) for _ in range(15)]
            size, in_flight = chance.randrange(1, 7), chance.randrange(1, 5)
            ways = self.each_way(lambda weir, *args, **named: weir.shops.upload(*args, **named), mishaps)
            for fake, upload in ways:
                with self.subTest(seed=seed, fake=type(fake).__name__):
                    refused, settled = [], []
                    result = upload(
                        given,
                        batch_size=size,
                        in_flight=in_flight,
                        on_refused=refused.append,
                        on_progress=lambda progress: settled.append(progress.settled),
                    )
                    self.assertEqual(fake.clashes, [])
                    self.assertLessEqual(fake.most_under_way, in_flight)
                    for number in range(6):
                        of_one = [each for each in given if each["shop_id"] == f"shop-{number}"]
                        decided = [each for each in fake.records() if each["shop_id"] == f"shop-{number}"]
                        self.assertEqual(decided, of_one)
                    bad = [index for index, each in enumerate(given) if each["name"] == "bad"]
                    self.assertEqual(sorted(each.index for each in refused), bad)
                    self.assertTrue(all(each.record is given[each.index] for each in refused))
                    self.assertEqual((result.accepted, result.refused), (len(given) - len(bad), len(bad)))
                    self.assertEqual(settled, sorted(settled))
                    self.assertEqual(settled[-1:], [len(given)][: len(settled)])

    def test_no_more_is_read_than_what_is_under_way(self):
        taken = []

        def source():
            for version in range(1000):
                taken.append(version)
                yield shop(version, version)

        for fake, upload in self.each_way(lambda weir, *args, **named: weir.shops.upload(*args, **named), [401] * 2):
            taken.clear()
            with self.assertRaises(WeirError) as caught:
                upload(source(), batch_size=5, in_flight=2)
            self.assertEqual(caught.exception.kind, "key")
            self.assertLessEqual(len(taken), 15)
            self.assertEqual(caught.exception.progress.settled, 0)

    def test_a_source_and_a_callback_that_fail_end_it_and_say_how_far_it_came(self):
        def source():
            yield from (shop(version, version) for version in range(7))
            raise OSError("the disk is gone")

        def full(_):
            raise OSError("no room")

        for fake, upload in self.each_way(lambda weir, *args, **named: weir.shops.upload(*args, **named)):
            with self.assertRaises(WeirError) as caught:
                upload(source(), batch_size=5)
            self.assertIn("record 7 could not be read", caught.exception.message)
            self.assertEqual(caught.exception.progress.settled, 5)
            with self.assertRaises(WeirError) as caught:
                upload([shop(1, 1, True)], on_refused=full)
            self.assertEqual((caught.exception.kind, caught.exception.progress.settled), ("usage", 0))

    def test_bodies_that_are_too_large_go_in_halves(self):
        for fake, upload in self.each_way(lambda weir, *args, **named: weir.shops.upload(*args, **named), [413, 413]):
            given = [shop(version, version, version == 5) for version in range(8)]
            refused = []
            result = upload(given, in_flight=1, on_refused=refused.append)
            self.assertEqual((result.accepted, result.refused), (7, 1))
            self.assertEqual([each.index for each in refused], [5])
            self.assertEqual(fake.records(), given)

    def test_a_cancelled_upload_leaves_nothing_behind(self):
        async def main():
            fake = Tasks()
            weir = AsyncWeir("http://weir.test", "k", driver=AsyncDriver(fake, AsyncHasty()))
            never = asyncio.Event()

            async def source():
                yield shop(1, 1)
                await never.wait()

            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(weir.shops.upload(source(), batch_size=1), 0.1)
            await asyncio.sleep(0)
            self.assertEqual(len(asyncio.all_tasks()), 1)

        asyncio.run(main())


class Recorders(unittest.TestCase):
    def test_interactions_are_recorded_once_whatever_goes_wrong(self):
        fake = Threads(["answer lost", 503, "lost"])
        refused, lost = [], []
        weir = Weir("http://weir.test", "k", driver=Driver(fake, Clock()))
        recorder = weir.recorder(batch_size=10, every=0.01, on_refused=refused.append, on_lost=lost.append)
        for number in range(95):
            self.assertTrue(recorder.record({"user_id": "bad" if number == 50 else str(number)}))
        counts = recorder.close()
        self.assertEqual((counts.accepted, counts.refused, counts.held, lost), (94, 1, 0, []))
        self.assertEqual([each.interaction for each in refused], [{"user_id": "bad"}])
        self.assertEqual(sorted(each["user_id"] for each in fake.records()), sorted([*map(str, range(50)), "bad", *map(str, range(51, 95))]))
        with self.assertRaises(WeirError):
            recorder.record({})

    def test_memory_is_bounded(self):
        for when_full, is_taken in (("refuse", False), ("drop_oldest", True)):
            lost = []
            weir = Weir("http://weir.test", "k", driver=Driver(Threads(["lost"] * 1000), Clock()))
            recorder = weir.recorder(every=60, most_bytes=100, when_full=when_full, on_lost=lost.append)
            taken = [recorder.record({"user_id": f"{number:04}"}) for number in range(20)]
            self.assertEqual(taken[-1], is_taken)
            self.assertLessEqual(recorder.counts().held * 19, 100)
            counts = recorder.close(within=0.05)
            self.assertEqual((counts.held, counts.lost), (0, 20))
            self.assertEqual(sum(len(each.interactions) for each in lost), 20)

    def test_with_asyncio(self):
        async def main():
            fake = Tasks(["lost", 503])
            weir = AsyncWeir("http://weir.test", "k", driver=AsyncDriver(fake, AsyncClock()))
            recorder = weir.recorder(batch_size=10, every=0.01)
            for number in range(35):
                recorder.record({"user_id": str(number)})
            counts = await recorder.close()
            self.assertEqual((counts.accepted, counts.held, counts.lost), (35, 0, 0))
            self.assertEqual(len(fake.records()), 35)
            self.assertEqual(len(asyncio.all_tasks()), 1)

        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
