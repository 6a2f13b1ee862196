"""The page as HTML: one file that holds its script, its style and its data, and asks nothing of a
network.

What a session holds stands in blocks of data, which no browser runs; the page's own script makes
text nodes of it. The policy allows that script and that style by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib.resources import files

SCRIPTS = (
    "dom",
    "data",
    "states",
    "river",
    "lines",
    "list",
    "places",
    "message",
    "slider",
    "filter",
    "prompts",
    "requests",
    "request",
    "inspector",
    "findings",
    "overview",
    "rows",
    "transcript",
    "losses",
    "compactions",
    "compare",
    "prefix",
    "contributors",
    "integrity",
    "search",
    "keys",
    "staying",
    "live",
    "sessions",
    "main",
)
"""The files of the page's script, in the order in which they are joined."""

STYLES = (
    "style",
    "transcript",
    "overview",
    "requests",
    "compactions",
    "compare",
    "prefix",
    "contributors",
    "integrity",
    "search",
    "live",
    "print",
)
"""The files of its style, likewise."""


_WITHOUT = (
    "Scripts are off here: the pictures, the transcript, the requests and the search need them. "
    "What can be told without them is told below."
)


def page(
    title: str,
    blocks: Iterable[tuple[str, str]],
    later: Iterable[tuple[str, str]] = (),
    noscript: str = "",
    connect: str = "'none'",
) -> str:
    """The page with its data.

    ``blocks`` are the names and the JSON texts that it needs to begin, ``later`` those of which it
    asks when somebody looks: they stand behind the script, so that nobody waits for them.
    ``noscript`` is text for who runs no scripts, ``connect`` what the page may ask of a network.
    """
    script, style = script_text(), style_text()
    found = _read("shell.html")
    parts = {
        "policy": policy(script, style, connect),
        "title": html.escape(title),
        "style": style,
        "noscript": f"<noscript><p>{_WITHOUT}</p><pre>{html.escape(noscript)}</pre></noscript>",
        "data": "\n".join(_block(name, text) for name, text in blocks),
        "script": script,
        "more": "\n".join(_block(name, text) for name, text in later),
    }
    # In one pass: a session may hold what looks like a place of the shell.
    pieces = found.split("{{")
    made = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        made += [parts[name], rest]
    return "".join(made)


@cache
def script_text() -> str:
    """The page's script: its files in one closure."""
    joined = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f"(() => {{\n'use strict';\n{joined}\n}})();"


@cache
def style_text() -> str:
    """The page's style."""
    return "\n".join(_read(f"{name}.css") for name in STYLES)


def policy(script: str, style: str, connect: str) -> str:
    """The content security policy: this script, this style, and nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            f"connect-src {connect}",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode()


def _block(name: str, text: str) -> str:
    # Inside of a script element nothing but "<" can begin its end, or a comment that hides it.
    safe = text.replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{safe}</script>'


@cache
def _read(name: str) -> str:
    return (files("cli.report") / "page" / name).read_text(encoding="utf-8")
