"""Records as people have them: dicts, dataclasses, rows of data frames, files. And what becomes of them on the way."""

from __future__ import annotations

import csv
import dataclasses
import datetime
import json
import math
import os
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Dict, Optional, Union
from uuid import UUID

from ..errors import WeirError
from ..record_types import RecordType

Source = Union[Iterable[Any], AsyncIterable[Any], str, "os.PathLike[str]"]
"""Records to upload: anything that can be iterated, a data frame of pandas or polars, a table of pyarrow, or the path of a file."""


def iterator_of(source: Any, kind: RecordType) -> Union[Iterator[Any], AsyncIterator[Any]]:
    """The records one by one, read no faster than they are taken."""
    if isinstance(source, (str, os.PathLike)):
        return _records_in(os.fspath(source), kind)
    library = type(source).__module__.split(".")[0]
    if library == "pandas" and hasattr(source, "columns"):
        return _fitted(_rows_of_pandas(source), kind)
    if library == "polars" and hasattr(source, "collect"):
        source = source.collect()
    if library == "polars" and hasattr(source, "iter_rows"):
        return _fitted(source.iter_rows(named=True), kind)
    if library == "pyarrow" and hasattr(source, "to_batches"):
        return _fitted(_rows_of_arrow(source.to_batches(max_chunksize=_AT_ONCE)), kind)
    if hasattr(source, "__aiter__"):
        asynchronous: AsyncIterable[Any] = source
        return asynchronous.__aiter__()
    if isinstance(source, (Mapping, bytes)) or not hasattr(source, "__iter__"):
        raise WeirError("usage", "upload() takes records that can be iterated, or a path", "put a single record into a list")
    records: Iterable[Any] = source
    return iter(records)


_AT_ONCE = 10_000


def _rows_of_pandas(frame: Any) -> Iterator[Dict[str, Any]]:
    # pandas has no other word for a value that is not there than NaN, NaT and NA: they are absent, and not wrong.
    for first in range(0, len(frame), _AT_ONCE):
        some = frame.iloc[first : first + _AT_ONCE]
        some = some.astype(object).where(some.notna(), None)
        yield from some.to_dict("records")


def _rows_of_arrow(batches: Iterable[Any]) -> Iterator[Dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _records_in(path: str, kind: RecordType) -> Iterator[Any]:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".ndjson", ".jsonl"):
        return _lines_of_json(path)
    if suffix == ".csv":
        return _rows_of_csv(path, kind)
    if suffix == ".parquet":
        return _fitted(_rows_of_parquet(path), kind)
    raise WeirError("usage", f"{path} is no .csv, .parquet or .ndjson", "read it yourself, and give upload() its records")


def _lines_of_json(path: str) -> Iterator[Any]:
    with open(path, encoding="utf-8-sig") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def _rows_of_csv(path: str, kind: RecordType) -> Iterator[Dict[str, Any]]:
    with open(path, encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text, strict=True)
        for row in rows:
            if None in row or None in row.values():
                raise ValueError(f"{path}, line {rows.line_num}: it has not as many cells as the first line")
            yield {name: read_cell(cell, kind.fields.get(name)) for name, cell in row.items() if cell != ""}


def read_cell(cell: str, field: Optional[str]) -> Any:
    """A cell as what its field takes. One that cannot be that stays text, so that the service refuses the record and says why."""
    if field == "number" and re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", cell):
        return Decimal(cell)
    if field == "boolean" and cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    if field == "moment" and re.fullmatch(r"\d+", cell):
        return int(cell)
    return cell


def _rows_of_parquet(path: str) -> Iterator[Dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as cause:
        raise WeirError(
            "usage", "Parquet is read with pyarrow, which is not there", "pip install 'weir-client[parquet]'"
        ) from cause
    with parquet.ParquetFile(path) as file:
        yield from _rows_of_arrow(file.iter_batches(batch_size=_AT_ONCE))


def _fitted(rows: Iterable[Dict[str, Any]], kind: RecordType) -> Iterator[Dict[str, Any]]:
    """Data frames have one type for days and for moments: what is at midnight becomes a day where the field is one."""
    days = [name for name, field in kind.fields.items() if field == "date"]
    for row in rows:
        for name in days:
            value = row.get(name)
            if isinstance(value, datetime.datetime) and value.time() == datetime.time():
                row[name] = value.date()
        yield row


def to_text(record: Any) -> str:
    """A record as JSON. What JSON has no form for is written as text, so that the service refuses the record and says why."""
    try:
        return json.dumps(record, allow_nan=False, default=_written, **_SHORT)
    except ValueError:
        return json.dumps(_spelled_out(record), default=_written, **_SHORT)


_SHORT: Any = {"ensure_ascii": False, "separators": (",", ":")}


def _written(value: Any) -> Any:
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Decimal):
        return _number_or_text(value)
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    # Numbers of numpy are no numbers of Python.
    if hasattr(value, "item") and hasattr(value, "dtype"):
        return value.item()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _number_or_text(value: Decimal) -> Any:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value() and abs(value) < 2**53:
        return int(value)
    # A number of JSON is read as a float: one with more digits than that holds stays text.
    number = float(value)
    return number if math.isfinite(number) and Decimal(repr(number)) == value else str(value)


def _spelled_out(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _spelled_out(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spelled_out(each) for each in value]
    if isinstance(value, (str, int, type(None), float)):
        return value
    return _spelled_out(_written(value))


def id_of(record: Any, field: str) -> Optional[str]:
    value = record.get(field) if isinstance(record, Mapping) else getattr(record, field, None)
    # The service reads ids in either case.
    return str(value).lower() if isinstance(value, (str, UUID)) else None
