"""No piece of a secret stays where a text was shortened, wherever that was."""

from __future__ import annotations

import base64
import re

import pytest
from secrets_made import OF_ALL, private_key

from projections.masking import Masker

WHOLE = sorted({secret for some in OF_ALL.values() for secret in some})


def core(secret: str) -> str:
    """The key itself, without the name or the address around it."""
    return max(re.split(r"[\s='\":@/]+", secret), key=len)


def pieces(secret: str) -> set[str]:
    return {secret[at : at + 8] for at in range(len(secret) - 7)}


def of(*texts: str) -> Masker:
    masker = Masker()
    for text in texts:
        masker.look(text)
    return masker


SHAPES = [secret for secret in WHOLE if len(core(secret)) > 10 and "PRIVATE" not in secret]


class TestFragments:
    """Without these a preview that ends within a key shows almost all of it."""

    @pytest.mark.parametrize("secret", SHAPES, ids=range(len(SHAPES)))
    def test_wherever_a_text_is_cut_nothing_of_the_key_is_left(self, secret: str) -> None:
        whole = f"I use {secret} here"
        masker, key = of(whole), core(secret)
        for at in range(len(whole) + 1):
            for text in (whole[:at], f"“{whole[:at]}…” was said", whole[at:]):
                found = masker.mask_shortened(text)
                assert not [piece for piece in pieces(key) if piece in found], found

    def test_the_lines_of_a_private_key_are_cut_on_one_line(self) -> None:
        whole = private_key()
        masker, flat = of(whole), " ".join(whole.split())
        for at in range(0, len(flat), 3):
            found = masker.mask_shortened(flat[:at])
            assert not any(piece in found for line in whole.split()[4:-5] for piece in pieces(line))

    def test_base64_that_was_cut_holds_nothing_either(self) -> None:
        secret = OF_ALL["github_token"][0]
        for front in ("", "a", "ab"):
            packed = base64.b64encode(f"{front}{secret} behind".encode()).decode()
            masker = of(secret)
            for at in range(len(packed)):
                found = masker.mask_shortened(packed[:at])
                assert len(found) < 16 or "characters)" in found

    def test_what_is_no_secret_stays_as_it_is(self) -> None:
        hook = next(secret for secret in OF_ALL["slack"] if secret.startswith("https"))
        masker = of(hook, "postgres://me:hunter2observed99@host/db")
        for text in ("https://hooks.slack.com/docs", "https://example.org", "observed", "postgres"):
            assert masker.mask_shortened(text) == text
        assert Masker().mask_shortened("a1b2c3d4e5f6") == "a1b2c3d4e5f6"
