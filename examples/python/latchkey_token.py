"""Checks a token of Latchkey with PyJWT. Put the output of `latchkey keys pull` next to this file."""
import base64
import hashlib
import time

import jwt

LEEWAY_SECONDS = 60


def digest(text: str, length: int = 32) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:length]).rstrip(b"=").decode()


def read_token(
    token, pinned, license_key, fingerprint=None, product=None, nonce=None, kind="online", now=None
):
    """Returns the claims of a good token, and raises jwt.InvalidTokenError for any other."""
    now = time.time() if now is None else now
    header = jwt.get_unverified_header(token)
    key = next((key for key in pinned["keys"] if key["kid"] == header.get("kid")), None)
    if header.get("typ") != "latchkey+jwt" or key is None:
        raise jwt.InvalidTokenError("not a token of this account")
    # The last lines check the times, because PyJWT can't be given another clock.
    options = {"verify_exp": False, "verify_iat": False, "require": ["aud", "exp", "iat"]}
    public_key = jwt.PyJWK(key, algorithm="EdDSA").key
    claims = jwt.decode(token, public_key, algorithms=["EdDSA"], audience=pinned["account"], options=options)
    if claims["lk"] != digest(license_key, 16):
        raise jwt.InvalidTokenError("another license")
    if claims["fp"] is not None and (fingerprint is None or claims["fp"] != digest(fingerprint)):
        raise jwt.InvalidTokenError("another machine")
    if product is not None and claims["product"] != product:
        raise jwt.InvalidTokenError("another product")
    if claims["kind"] != kind:
        raise jwt.InvalidTokenError("an offline file where an answer was expected, or the reverse")
    if claims["nonce"] != nonce if nonce is not None else claims["iat"] > now + LEEWAY_SECONDS:
        raise jwt.InvalidTokenError("not fresh")
    if claims["exp"] < now - LEEWAY_SECONDS:
        raise jwt.ExpiredSignatureError("the token has ended")
    return claims
