"""A model as it is named on the command line, at an OpenAI-compatible endpoint.

The key comes from the environment (``OPENAI_API_KEY``), the address from there
(``OPENAI_BASE_URL``) or from the command line: never from a config, which a folder that somebody
else made may hold, and which would then say where a session is sent. The config may give
``[model]`` with ``name``, ``window`` (tokens), ``timeout`` (seconds) and ``retries``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cli.config import config
from eventlog.errors import InputRefused
from harness.endpoint import Endpoint

if TYPE_CHECKING:
    from openai import OpenAI

DEFAULT_URL = "https://api.openai.com/v1"
LOOPBACK = ("localhost", "127.0.0.1", "::1")

_HOLDS = "name, window, timeout and retries"

_NUMBERS: dict[str, tuple[type, float, float]] = {
    "window": (int, 2_000, 1e9),
    "timeout": (float, 1, 3_600),
    "retries": (int, 0, 10),
}


MODEL = "CTXLOG_MODEL"
"""The variable that names the model of a conversation."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model, and how it is asked."""

    endpoint: Endpoint
    window: int | None
    """Tokens that it takes, where the config says so."""
    client: OpenAI
    """What reaches it."""


def model_named(name: str, base_url: str | None, *, temperature: float | None = 0.0) -> Model:
    """The model of that name; without a temperature it takes its own.

    Raises InputRefused where there is no key, or a wrong address.
    """
    from openai import DefaultHttpxClient, OpenAI

    url = base_url if base_url is not None else os.environ.get("OPENAI_BASE_URL") or DEFAULT_URL
    host = _host(url)
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        if host not in LOOPBACK:
            raise InputRefused(
                f"no key for the model {name!r}: set OPENAI_API_KEY (a server on this machine, "
                "named with --base-url, needs none)"
            )
        key = "none"
    elif not key.isascii() or not key.isprintable():
        raise InputRefused("OPENAI_API_KEY holds characters that no key has")
    settings = _settings()
    timeout = settings.get("timeout", 120.0)
    # What is sent goes to this address alone: no redirect is followed to another, and no proxy is
    # asked for a server on this machine.
    try:
        http = DefaultHttpxClient(
            follow_redirects=False, trust_env=host not in LOOPBACK, timeout=timeout
        )
        client = OpenAI(
            api_key=key,
            base_url=url,
            timeout=timeout,
            max_retries=int(settings.get("retries", 2)),
            http_client=http,
        )
    except (ImportError, OSError, ValueError) as error:
        raise InputRefused(
            "the proxy or certificate settings of the environment cannot be used: "
            f"{type(error).__name__}: {error}"
        ) from None
    window = settings.get("window")
    endpoint = Endpoint(client, name, temperature=temperature)
    return Model(endpoint, int(window) if window is not None else None, client)


def own_model() -> str:
    """The model that the environment or the config names; empty where neither does.

    Raises InputRefused.
    """
    named = os.environ.get(MODEL, "").strip()
    if named:
        return named
    of = config()
    name = of.table("model", _HOLDS).get("name", "")
    if not isinstance(name, str):
        raise InputRefused(f"{of.path}: [model] name = {name!r} is no text")
    return name.strip()


def _host(url: str) -> str:
    """The host of an address. Raises InputRefused for what is none."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    plain = url.isascii() and url.isprintable() and " " not in url
    if host is None or parts.scheme not in ("http", "https") or not plain:
        # What stands before an @ may be a password, however broken the rest is.
        shown = "this" if "@" in url else repr(url.partition("?")[0])
        raise InputRefused(
            f"{shown} is no address of an endpoint, such as http://127.0.0.1:8080/v1"
        )
    if parts.username is not None or parts.password is not None:
        raise InputRefused("--base-url holds a name or a password; the key is OPENAI_API_KEY")
    if parts.query or parts.fragment:
        raise InputRefused(
            "--base-url ends with its path, no ? and no #; the key is OPENAI_API_KEY"
        )
    return host


def _settings() -> dict[str, float]:
    """``[model]`` of the config. Raises InputRefused."""
    of = config()
    table = {name: n for name, n in of.table("model", _HOLDS).items() if name != "name"}
    for name, value in table.items():
        if name not in _NUMBERS:
            known = ", ".join(("name", *_NUMBERS))
            raise InputRefused(f"{of.path}: [model] has no {name!r}; it has {known}")
        kind, least, most = _NUMBERS[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not least <= value <= most or (kind is int and value != int(value)):
            of_kind = "whole number" if kind is int else "number"
            raise InputRefused(
                f"{of.path}: [model] {name} = {value!r} is no {of_kind} from {least:g} to {most:g}"
            )
    return table
