"""A page that is shared shows no secret that was found in any text of it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

import pytest
from hanging import no_hang
from hypothesis import given, settings
from hypothesis import strategies as st
from secrets_made import ALNUM, HEX, KEY_LINES, OF_ALL, OF_DETECTORS, jwt, private_key

from eventlog.errors import InputRefused
from projections import findings
from projections.findings import detectors, for_secrets, masked
from projections.masking import Masker

GITHUB = OF_DETECTORS["github_token"][0]
SCAN = for_secrets().scan
SECRETS = [secret for some in OF_ALL.values() for secret in some]


def every_line(text: str) -> Iterator[tuple[str, str, str]]:
    """What every detector finds in every line, with nothing passed over."""
    for line in text.splitlines():
        for start in range(0, max(1, len(line) - 300), 2_000):
            piece = line[start : start + 2_300]
            for name, detector in detectors().items():
                if list(detector.analyze_string(piece)):
                    some = [m[0].strip() for p in detector.denylist for m in p.finditer(piece)]
                    for secret in dict.fromkeys(some):
                        yield name, masked(secret), secret


def texts(between: str = "") -> st.SearchStrategy[str]:
    """Secrets, what only looks like one, and what may stand between them."""
    secrets = st.sampled_from([*SECRETS, jwt(ALNUM[:43]), private_key()])
    near = st.builds(lambda secret, at: secret[at:], secrets, st.integers(1, 6)) | st.builds(
        lambda secret, at: secret[:-at], secrets, st.integers(1, 6)
    )
    cut = st.builds(lambda secret, at: secret[:at] + "\n" + secret[at:], secrets, st.integers(1, 9))
    glue = st.sampled_from(
        [
            *"\n\n\n\r\t \"'=:.,;@-_/\\n&é한aZ0",
            "\r\n",
            "\u2028",
            "\x1c",
            "key = ",
            "://",
            "ſK",
            "\udc80",
            *("x" * 1_990, "-" * 2_290, "word " * 400, "\\n", '\\"'),
        ]
    )
    plain = st.lists(secrets | glue | near | cut | st.text(max_size=8), max_size=9).map(
        between.join
    )
    return plain | plain.map(json.dumps) | plain.map(lambda t: json.dumps(json.dumps({"a": t})))


def mask(*some: str) -> list[str]:
    masker = Masker()
    for text in some:
        masker.look(text)
    return [masker.mask(text) for text in some]


class TestMasker:
    """Without these a key that a tool printed is shared with the page."""

    @settings(max_examples=200)
    @given(texts())
    def test_what_is_found_is_what_every_detector_finds_in_every_line(self, text: str) -> None:
        assert list(SCAN(text)) == list(every_line(text))

    @settings(max_examples=150)
    @given(texts())
    def test_nothing_that_was_found_is_left(self, text: str) -> None:
        [shown] = mask(text)
        assert not [secret for _, _, secret in SCAN(text) if secret in shown]

    @settings(max_examples=150)
    @given(texts("\n"))
    def test_nothing_is_found_again(self, text: str) -> None:
        [shown] = mask(text)
        assert not list(SCAN(shown))

    @pytest.mark.parametrize("rule", OF_ALL)
    def test_a_secret_of_every_shape(self, rule: str) -> None:
        for secret in OF_ALL[rule]:
            masker = Masker()
            text = f'they said "{secret}" and went on'
            masker.look(text)
            assert rule in masker.counts
            shown = masker.mask(text)
            assert shown.startswith('they said "')
            assert shown.endswith('" and went on')
            assert secret not in shown
            assert masker.masked_count == 1

    def test_is_shown_as_a_finding_shows_it(self) -> None:
        assert mask(f"TOKEN={GITHUB}\nPATH=/bin") == ["TOKEN=ghp_… (40 characters)\nPATH=/bin"]

    def test_behind_a_name_the_value_is_the_secret_also_where_no_name_stands(self) -> None:
        value = ALNUM[:38] + "+/"
        assert mask(f'aws_secret_access_key = "{value}"', f"export S={value}") == [
            f'aws_secret_access_key = "{masked(value)}"',
            f"export S={masked(value)}",
        ]

    def test_the_name_of_a_header_stays_and_its_key_goes_everywhere(self) -> None:
        key = ALNUM[:40]
        shown = mask(
            f'curl -H "Authorization: Bearer {key}"',
            f"export KEY={key}",
            "Authorization: Bearer is what it wants",
        )
        assert shown == [
            f'curl -H "Authorization: Bearer {masked(key)}"',
            f"export KEY={masked(key)}",
            "Authorization: Bearer is what it wants",
        ]

    def test_a_password_of_an_address_is_masked_elsewhere_unless_it_is_a_word(self) -> None:
        password = "hunter2Secret99"
        shown = mask(f"db://u:{password}@h db://u:postgres@h", f"postgres: {password}")
        assert shown == [
            f"db{masked(f'://u:{password}@')}h db{masked('://u:postgres@')}h",
            f"postgres: {masked(password)}",
        ]

    @pytest.mark.parametrize(
        "encode", [str.encode, json.dumps, lambda t: json.dumps(json.dumps(t))]
    )
    def test_what_was_found_in_one_text_is_masked_in_all_in_every_form(
        self, encode: object
    ) -> None:
        assert callable(encode)
        pem = private_key()
        data = encode(f"key: {GITHUB}, {pem}")
        data = data if isinstance(data, bytes) else data.encode()
        for form in (data.decode(), base64.b64encode(data).decode()):
            _, shown = mask(f"{GITHUB}\n{pem}", f"before {form} after")
            assert shown.startswith("before ")
            assert shown.endswith(" after")
            assert shown.count(masked(GITHUB)) == 1
            assert not any(line in shown for line in KEY_LINES)
            assert not [m for m in re.findall("[A-Za-z0-9+/=]{16,}", shown)]

    def test_ordinary_text_stays_as_it_is(self) -> None:
        ordinary = [
            "def f(api_key: str) -> None: ...  # sk-ant-api03-..., ghp_xxx, AKIA",
            "https://user@host:8080/a?b=c#d and postgres://localhost:5432/db",
            "sha256:" + HEX + " " + "0123456789abcdef" * 2,
            "550e8400-e29b-41d4-a716-446655440000 /usr/lib/python3.11/site-packages/x_y",
            "a PRIVATE KEY begins with BEGIN",
        ]
        assert mask(*ordinary) == ordinary

    def test_how_many_were_found_and_how_often_masked(self) -> None:
        masker = Masker()
        other = OF_DETECTORS["github_token"][1]
        some = [f"{GITHUB} {GITHUB}", f"{other} {GITHUB}", private_key(), "nothing"]
        some.append(json.dumps(private_key()))
        for text in some:
            masker.look(text)
        assert masker.counts == {"github_token": 2, "private_key": 1}
        assert masker.total == 3
        assert masker.masked_count == 0
        for text in some:
            masker.mask(text)
        assert masker.masked_count == 6

    def test_one_that_two_detectors_find_is_one(self) -> None:
        masker = Masker()
        masker.look(f"https://me:{GITHUB}@github.com/me/it")
        assert masker.counts == {"basic_auth": 1, "github_token": 1}
        assert masker.total == 1

    def test_two_that_overlap_go_as_one(self) -> None:
        both = "://me:word@r.org/:_auth" + f"Token=npm_{ALNUM[:36]}"
        assert mask(f"https{both}") == [f"https{masked(both)}"]

    def test_many_secrets_cost_no_more_than_a_walk(self) -> None:
        many = [f"gh{'p'}_" + f"{n:06d}" * 6 for n in range(1_000)]
        with no_hang():
            shown = mask("\n".join(many), "nothing of the kind; " * 20_000)
        assert shown[0].splitlines() == [masked(secret) for secret in many]

    def test_a_hostile_text_ends(self) -> None:
        begin = private_key().splitlines()[0]
        with no_hang():
            for unit in (begin, begin + "\n" + "a" * 64, "://a:b@", "eyJ.", "A: b\n", GITHUB):
                mask(begin + unit * (100_000 // len(unit)))

    def test_without_the_detectors_it_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(findings.DETECTORS, "none", "NoDetector")
        detectors.cache_clear()
        try:
            with pytest.raises(InputRefused, match="detect-secrets"):
                Masker()
        finally:
            monkeypatch.undo()
            detectors.cache_clear()


class TestWholeSecrets:
    """Without these the beginning of a key is masked and the rest is shared."""

    @pytest.mark.parametrize(
        ("secret", "rest"),
        [
            (jwt(), "." + ALNUM[:43]),
            (OF_DETECTORS["stripe"][0], ALNUM[:75]),
            (OF_DETECTORS["discord"][0], ALNUM[:11]),
            (GITHUB, ALNUM[:60]),
            (OF_DETECTORS["gitlab_token"][0], ".01.1a2b3c4d5"),
            (OF_DETECTORS["openai"][0], "_" + ALNUM[:30]),
            (OF_DETECTORS["twilio"][0], "9f"),
            (OF_DETECTORS["azure_storage_key"][0], "AAAA=="),
            ("db://u:p@ss@ho", ""),
        ],
    )
    def test_to_its_end(self, secret: str, rest: str) -> None:
        for behind in ("", " and", ".", '"', "\n", "\\n"):
            [shown] = mask(f"it is {secret}{rest}{behind}")
            whole = secret + rest if rest else "://u:p@ss@"
            assert shown == f"it is {secret}{rest}{behind}".replace(whole, masked(whole))

    def test_a_long_one_that_the_pieces_of_a_line_cut(self) -> None:
        token = jwt(ALNUM * 6)
        for before in range(1_900, 2_320, 30):
            [shown] = mask("-" * before + token + "!")
            assert shown == "-" * before + masked(token) + "!"


class TestPrivateKeys:
    """Without these the line above a key is masked, and the key is shared."""

    @pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
    @pytest.mark.parametrize(
        "end", ["\n", "\r\n", "\\n", "\\\\n", "\\r\\n", " ", "\n    ", '\\n"\n + "']
    )
    def test_the_whole_block_goes(self, kind: str, end: str) -> None:
        block = private_key(kind, end)
        assert mask(f"a = '{block}'; b") == [f"a = '{masked(block)}'; b"]

    def test_with_numbers_of_lines_and_with_headers(self) -> None:
        lines = private_key().splitlines()
        lines[1:1] = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0A1B", ""]
        for number in ("{:6}\t", "{}→", "+", "> "):
            numbered = "\n".join(number.format(n) + line for n, line in enumerate(lines, 1))
            [shown] = mask(f"{numbered}\n  and on")
            assert shown.endswith(" characters)\n  and on")
            assert not any(line in shown for line in (*KEY_LINES, "ENCRYPTED"))

    @pytest.mark.parametrize("end", ["\n", "\\n"])
    @pytest.mark.parametrize("count", [1, 4, 8])
    def test_without_an_end_the_lines_that_look_like_one(self, count: int, end: str) -> None:
        block = end.join(private_key().splitlines()[:count])
        for behind in ("", f"{end}Then I ran `ls`.", f"{end}[cut]", '"'):
            assert mask(f"it: {block}{behind}") == [f"it: {masked(block)}{behind}"]

    def test_with_some_of_it_left_out(self) -> None:
        lines = private_key().splitlines()
        lines[3:5] = ["[... 12 lines left out ...]"]
        block = "\n".join(lines)
        assert mask(f"it: {block}\nnext") == [f"it: {masked(block)}\nnext"]

    def test_only_its_line_where_no_key_stands(self) -> None:
        name = "AVeryLongNameOfAClassThatFindsPrivateKeysInFiles"
        code = 'MARKS = ["{}", "{}"]  # {}\nclass ' + name + ": ..."
        label, other, _ = (OF_DETECTORS["private_key"][at] for at in (0, 1, 2))
        assert mask(code.format(label, other, "as they stand")) == [
            code.format(masked(label), masked(other), "as they stand")
        ]

    def test_two_keys_are_two(self) -> None:
        one = private_key("EC PRIVATE KEY")
        [shown] = mask(f"{one}\n{one}\n")
        assert shown == f"{masked(one)}\n{masked(one)}\n"

    def test_one_that_was_cut_before_another(self) -> None:
        one, other = "\n".join(private_key().splitlines()[:3]), private_key("EC PRIVATE KEY")
        [shown] = mask(f"{one}\n...\n{other}\n")
        assert shown == f"{masked(one)}\n...\n{masked(other)}\n"

    def test_its_lines_alone_elsewhere(self) -> None:
        _, shown = mask(private_key(), f"tail: {KEY_LINES[4]}\n")
        assert shown == f"tail: {masked(KEY_LINES[4])}\n"

    def test_another_one_in_base64(self) -> None:
        other = private_key().replace("A/", "Z/")
        data = base64.b64encode(f"{other}\n".encode()).decode()
        _, shown = mask(private_key(), f"tls.key: {data}\nkind: Secret")
        label = "BEGIN " + "RSA PRIVATE KEY"
        assert shown == f"tls.key: {masked(label)}\nkind: Secret"

    def test_of_putty(self) -> None:
        block = "\n".join(
            [
                *("PuTTY-User-" + "Key-File-2: ssh-rsa", "Encryption: none", "Comment: me"),
                *("Public-Lines: 3", *KEY_LINES[:3], "Private-Lines: 2", *KEY_LINES[3:5]),
                "Private-MAC: " + HEX[:40],
            ]
        )
        assert mask(f"{block}\nnext") == [f"{masked(block)}\nnext"]
