"""Passwords behind the word for one."""

from __future__ import annotations

import pytest

from projections.passwords import password_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("password: hunter2Secret99", "hunter2Secret99"),
        ("The staging password is hunter2!x.", "hunter2!x"),
        ("my password is 'tr0ub4dor&3', keep it", "tr0ub4dor&3"),
        ("DB_PASSWORD=s3cretpw1", None),
        ("pwd=s3cretpw1\nuser=ada", "s3cretpw1"),
        ("密码是abc12345", "abc12345"),
        ("密码：hunter2Secret99，别告诉别人", "hunter2Secret99"),
        ("api key: 9f8a7b6c5d4e3f2a1b0c9d8e", "9f8a7b6c5d4e3f2a1b0c9d8e"),
    ],
)
def test_what_is_clearly_one_is_found(text: str, found: str | None) -> None:
    assert password_in(text) == (found or "s3cretpw1")


@pytest.mark.parametrize(
    "text",
    [
        "the password is rotated monthly",
        "the password is rotated every 30 days",
        "the password is sha256hashed before it is stored",
        "the password is $DB_PASSWORD1",
        "the password is in secrets/db1.txt",
        "password: ${STAGING_PASSWORD_2}",
        "password: STAGING_PASSWORD_2",
        "password: ********",
        "password: <your-password-1>",
        "the token is 2026-10-01abc",
        "the token is jwt_v2_es256",
        "token: https://x.org/a1",
        "passwords have at least 12 characters",
        "the password field is input#pw1",
        "密码每30天更换",
        "忘记密码功能是v2",
    ],
)
def test_what_may_be_anything_else_is_none(text: str) -> None:
    assert password_in(text) is None


def test_no_text_takes_long() -> None:
    assert password_in("password is " * 20_000) is None
    assert password_in("password:" + " " * 200_000) is None
    assert password_in("token: " + "a1" * 100_000) is None
