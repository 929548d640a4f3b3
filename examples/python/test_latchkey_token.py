import base64
import datetime
import json
import pathlib
import unittest

import jwt

from latchkey_token import digest, read_token, spellings

FOLDER = pathlib.Path(__file__).parents[2] / "conformance"
TOKENS, FILES, SPELLINGS, FINGERPRINTS = (
    json.loads((FOLDER / f"{name}.json").read_text())
    for name in ["tokens", "offline-files", "key-spellings", "fingerprints"]
)


def seconds(time):
    return datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def payload(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


class Conformance(unittest.TestCase):
    def test_tokens(self):
        for case in TOKENS["cases"]:
            expected = {**TOKENS["expected"], **case.get("expected", {})}
            expected["now"] = seconds(expected["now"])
            with self.subTest(f"{case['check']}: {case['name']}"):
                if case["result"] != "good":
                    with self.assertRaises(jwt.InvalidTokenError):
                        read_token(case["token"], TOKENS, **expected)
                    continue
                claims = read_token(case["token"], TOKENS, **expected)
                self.assertEqual(claims["code"], case["code"])
                said = payload(case["token"])
                self.assertEqual(claims, said if said["valid"] else {**said, "ent": {}})

    def test_offline_files(self):
        for case in FILES["cases"]:
            application = {**FILES["application"], **case.get("application", {})}
            # This example knows no release dates.
            if application.pop("release_date") is not None:
                continue
            application["license_key"] = TOKENS["expected"]["license_key"]
            application["now"] = seconds(case.get("now", FILES["now"]))
            text = "".join(case["text"].split())
            with self.subTest(case["name"]):
                if case["code"] == "valid":
                    self.assertTrue(read_token(text, FILES, kind="offline", **application)["valid"])
                    continue
                with self.assertRaises(jwt.InvalidTokenError):
                    read_token(text, FILES, kind="offline", **application)

    def test_key_spellings(self):
        for case in SPELLINGS["cases"]:
            for text in [case["stored"], *case["typed"]]:
                self.assertIn(case["lk"], [digest(key, 16) for key in spellings(text)], text)
            for text in case["others"]:
                self.assertNotIn(case["lk"], [digest(key, 16) for key in spellings(text)], text)

    def test_claims_of_fingerprints(self):
        for case in FINGERPRINTS["claims"]:
            self.assertEqual(digest(case["fingerprint"]), case["fp"])

    def test_no_token_has_a_sub_that_is_no_string(self):
        # PyJWT refuses one from 2.10 on. Debian 12 has 2.6, which doesn't.
        for case in TOKENS["cases"]:
            if case["result"] == "good":
                self.assertIsInstance(payload(case["token"]).get("sub", ""), str, case["name"])


if __name__ == "__main__":
    print(f"PyJWT {jwt.__version__}")
    unittest.main()
