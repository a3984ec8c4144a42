"""Whether what came as a webhook is from Weir."""

from __future__ import annotations

import base64
import binascii
import datetime
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Dict, Optional, Union

from .errors import WeirError


def verify_webhook(
    secrets: Union[str, Sequence[str]],
    headers: Mapping[str, str],
    body: Union[bytes, str],
    *,
    tolerance: float = 300,
    at: Optional[datetime.datetime] = None,
) -> Dict[str, Any]:
    """Checks that a delivery was signed with one of these secrets (`whsec_…`), and returns its `type`, `timestamp` and `data`.

    `body` has to be what came, byte by byte: JSON that was read and written again has another signature. A delivery whose time differs
    from this clock's (or from `at`) by more than `tolerance` seconds may be a repetition by somebody else. Signed as Standard Webhooks are.
    """
    names = {name.lower(): value for name, value in headers.items()}
    sender, sent_at, signatures = (names.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not sender or not sent_at or not signatures:
        raise _refused("it has no webhook-id, webhook-timestamp or webhook-signature", "answer it with 400")
    now = time.time() if at is None else at.timestamp()
    if not re.fullmatch(r"[0-9]{1,12}", sent_at) or abs(now - int(sent_at)) > tolerance:
        raise _refused("its webhook-timestamp is too far from this clock", "check that the clock here is right")
    came = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{sender}.{sent_at}.".encode() + came
    given = [each[3:].encode() for each in signatures.split(" ") if each.startswith("v1,")]
    fits = False
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        wanted = base64.b64encode(hmac.new(_key_of(secret), signed, hashlib.sha256).digest())
        # All are compared, each in constant time: how long it takes tells nothing about which fits.
        for one in given:
            fits = hmac.compare_digest(wanted, one) or fits
    if not fits:
        raise _refused("none of its signatures fits", "check that the secret is that of this webhook, and the body as it came")
    message: Dict[str, Any] = json.loads(came)
    return message


def _refused(what: str, remedy: str) -> WeirError:
    return WeirError("key", f"not a webhook of Weir: {what}", remedy)


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len("whsec_") :], validate=True) if secret.startswith("whsec_") else b""
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise WeirError("usage", "the secret is none of a webhook", "give it as it was shown: whsec_, then base64")
    return key
