"""Uploads 75 shops forty times each, some wrong, and says how far it came, and at last what was to come of it."""

import json
import sys
import uuid

from weir_client import Weir

url, key = sys.argv[1:]
ids = [str(uuid.uuid4()) for _ in range(75)]
records = [
    {"shop_id": ids[number % 75], "name": str(number), "region": "nowhere" if number % 41 == 7 else "GB"}
    for number in range(3000)
]
refused, retried = [], []
result = Weir(url, key, on_retry=retried.append).shops.upload(
    iter(records),
    batch_size=100,
    on_refused=refused.append,
    on_progress=lambda progress: print(progress.settled, flush=True),
)
assert sorted(each.index for each in refused) == [number for number in range(3000) if number % 41 == 7]
given = {each: [record["name"] for record in records if record["shop_id"] == each and record["region"] == "GB"] for each in ids}
print(json.dumps({"given": given, "accepted": result.accepted, "refused": result.refused, "retried": len(retried)}))
