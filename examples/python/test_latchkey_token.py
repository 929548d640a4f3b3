import datetime
import json
import pathlib
import unittest

import jwt

from latchkey_token import read_token

VECTORS = json.loads((pathlib.Path(__file__).parents[2] / "test/tokens/vectors.json").read_text())
NOW = datetime.datetime.fromisoformat(VECTORS["now"].replace("Z", "+00:00")).timestamp()
MACHINE = {"license_key": "7K3QD-9WZXA-M2RTB-H5NVE-40GPC", "fingerprint": "machine-0123456789"}


def read(token, now=NOW, **change):
    return read_token(token, VECTORS, **{**MACHINE, **change}, now=now)


class Tokens(unittest.TestCase):
    def test_accepts_every_good_token(self):
        for vector in VECTORS["valid"]:
            with self.subTest(vector["name"]):
                self.assertEqual(read(vector["token"], kind=vector["claims"]["kind"]), vector["claims"])

    def test_rejects_every_bad_token(self):
        for vector in VECTORS["invalid"]:
            with self.subTest(vector["name"]), self.assertRaises(jwt.InvalidTokenError):
                read(vector["token"])

    def test_rejects_a_good_token_of_another_license_machine_product_call_kind_or_time(self):
        token = VECTORS["valid"][0]["token"]
        others = [
            {"license_key": "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA"},
            {"fingerprint": "machine-9876543210"},
            {"product": "other"},
            {"nonce": "another-nonce"},
            {"kind": "offline"},
            {"now": NOW + 15 * 86_400},
            {"now": NOW - 86_400},
        ]
        for other in others:
            with self.subTest(other), self.assertRaises(jwt.InvalidTokenError):
                read(token, **other)


if __name__ == "__main__":
    unittest.main()
