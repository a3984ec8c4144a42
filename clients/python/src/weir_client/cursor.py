"""Where a reader of a feed keeps its place."""

from __future__ import annotations

import inspect
import os
from typing import Any, Optional, Protocol, Union


class CursorStore(Protocol):
    """A place of one's own, such as a row of the database that the events go to. `load` returns None where nothing was kept yet."""

    def load(self) -> Any: ...
    def save(self, cursor: str) -> Any: ...


class CursorFile:
    """A file that holds the cursor; at any moment the old one or the new one, whole."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._path = os.fspath(path)

    def load(self) -> Optional[str]:
        try:
            with open(self._path, encoding="ascii") as file:
                return file.read().strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        unfinished = f"{self._path}.new"
        with open(unfinished, "w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self._path)


Store = Union[CursorStore, str, "os.PathLike[str]"]


def store_of(given: Optional[Store]) -> Optional[CursorStore]:
    return CursorFile(given) if isinstance(given, (str, os.PathLike)) else given


async def waited(given: Any) -> Any:
    """A store of a program with asyncio may answer at once, or later."""
    return await given if inspect.isawaitable(given) else given
