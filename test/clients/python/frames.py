"""Uploads the same three customers from every form that data has, one of them wrong, and says what came of each, and whether it is the same."""

import datetime
import json
import sys
import uuid

import pandas
import polars
import pyarrow
from pyarrow import parquet

from weir_client import Weir

url, key = sys.argv[1:]
weir = Weir(url, key)
columns = {
    "customer_id": [str(uuid.uuid4()) for _ in range(3)],
    "user_id": [str(uuid.uuid4()) for _ in range(3)],
    "region": ["GB", "DE", "nowhere"],
    "birthdate": [datetime.date(1990, 1, 31), None, None],
    "gender": [None, "f", None],
    "created": [datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc), None, None],
    "is_deleted": [False, None, False],
}
table = pyarrow.table(columns)
parquet.write_table(table, "customers.parquet")
frame = pandas.DataFrame({**columns, "birthdate": pandas.to_datetime(columns["birthdate"])})
frame.to_csv("customers.csv", index=False, date_format="%Y-%m-%dT%H:%M:%SZ")
text = open("customers.csv").read().replace("1990-01-31T00:00:00Z", "1990-01-31").replace("2026-01-31 12:00:00+00:00", "2026-01-31T12:00:00Z")
open("customers.csv", "w").write(text)

shown, results = [], {}
forms = {"pandas": frame, "polars": polars.DataFrame(columns), "pyarrow": table, "parquet": "customers.parquet", "csv": "customers.csv"}
for name, form in forms.items():
    cursor = weir.feeds.page("customers", after="now")["next"]
    result = weir.customers.upload(form)
    results[name] = [result.accepted, result.refused]
    records = [event["record"] for event in weir.feeds.page("customers", after=cursor, wait="20s")["events"]]
    shown.append(sorted(records, key=lambda record: record["region"]))
same = all(each == shown[0] for each in shown) and shown[0][1]["birthdate"] == "1990-01-31"
print(json.dumps({**results, "same": same} if same else {"shown": shown}))
