"""Checks a token of Latchkey with PyJWT. Put the output of `npm run latchkey -- keys pull` next to this file."""
import base64
import hashlib
import re
import time

import jwt

# Clocks may differ by as much. The end of a token counts to the second.
LEEWAY_SECONDS = 300


def digest(text: str, length: int = 32) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:length]).rstrip(b"=").decode()


def spellings(typed: str) -> list:
    """The license key as it was typed and, if it is a generated one, as Latchkey stores it."""
    plain = re.sub(r"[\s-]", "", typed).upper().translate(str.maketrans("OIL", "011"))
    return [typed, "-".join(re.findall(".{1,5}", plain))]


def read_token(
    token, pinned, license_key, fingerprint=None, product=None, nonce=None, kind="online", now=None
):
    """Returns the claims of a good token, and raises jwt.InvalidTokenError for any other. Look at `valid` first."""
    now = time.time() if now is None else now
    header = jwt.get_unverified_header(token)
    key = next((key for key in pinned["keys"] if key["kid"] == header.get("kid")), None)
    if header.get("typ") != "latchkey+jwt" or "crit" in header or key is None:
        raise jwt.InvalidTokenError("not a token of this account")
    # The last lines check the times, because PyJWT can't be given another clock.
    options = {"verify_exp": False, "verify_iat": False, "require": ["aud", "exp", "iat"]}
    public_key = jwt.PyJWK(key, algorithm="EdDSA").key
    claims = jwt.decode(token, public_key, algorithms=["EdDSA"], audience=pinned["account"], options=options)
    if not isinstance(claims["exp"], (int, float)) or not isinstance(claims["iat"], (int, float)):
        raise jwt.InvalidTokenError("no times")
    if claims["lk"] not in [digest(key, 16) for key in spellings(license_key)]:
        raise jwt.InvalidTokenError("another license")
    if claims["fp"] is not None and (fingerprint is None or claims["fp"] != digest(fingerprint)):
        raise jwt.InvalidTokenError("another machine")
    # A signed no may be about no product at all. It is a verdict, and no missing answer.
    if claims["valid"] and product is not None and claims["product"] != product:
        raise jwt.InvalidTokenError("another product")
    if claims["kind"] != kind:
        raise jwt.InvalidTokenError("an offline file where an answer was expected, or the reverse")
    if claims["nonce"] != nonce if nonce is not None else claims["iat"] > now + LEEWAY_SECONDS:
        raise jwt.InvalidTokenError("not fresh")
    # The nonce proves that an answer is fresh, whatever the clock says.
    if nonce is None and claims["exp"] <= now:
        raise jwt.ExpiredSignatureError("the token has ended")
    return claims if claims["valid"] else {**claims, "ent": {}}
