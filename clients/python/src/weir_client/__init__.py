"""Uploads records to Weir, and reads what was accepted."""

from .aio import AsyncWeir
from .call import Retry
from .client import Weir
from .cursor import CursorFile, CursorStore
from .errors import Progress, WeirError
from .record_types import RECORD_TYPES
from .resources import RequestOutcome
from .sending.held import RecorderCounts, RecorderLoss, RecorderRefusal
from .sending.imports import ImportProgress, ImportResult
from .sending.send import Refused, SendResult, Waiting
from .sending.upload import UploadSummary
from .webhooks import verify_webhook

__all__ = [
    "RECORD_TYPES",
    "AsyncWeir",
    "CursorFile",
    "CursorStore",
    "ImportProgress",
    "ImportResult",
    "Progress",
    "RecorderCounts",
    "RecorderLoss",
    "RecorderRefusal",
    "Refused",
    "RequestOutcome",
    "Retry",
    "SendResult",
    "UploadSummary",
    "Waiting",
    "Weir",
    "WeirError",
    "verify_webhook",
]
