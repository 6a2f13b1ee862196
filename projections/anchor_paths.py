"""Paths in running text: what looks like a file, and what only has a slash or a dot in it.

Absolute and relative paths with an extension or with two slashes, Windows paths, and bare names
with a well-known extension. ``and/or``, ``2026/01/20``, ``Node.js``, ``response.json()``,
``src/**/*.py`` and ``%s.json`` are none. The line number behind a path, as grep and compilers write
it, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_PATH = 400
"""A word longer than this is data."""

_KNOWN = """
    astro bash bat c cc cfg clj cmake conf cpp cs css csv cxx dart db diff dll docx ejs erb ex exe
    exs fish gif go gql gradle graphql gz h hpp hs htm html ico iml ini ipynb jar java jpeg jpg js
    json json5 jsonl jsx key kt kts less lock log lua m4 map md mdx mjs cjs mk ml mp3 mp4 mts cts
    nix out parquet patch pdf pem php pl plist png po prisma properties proto ps1 py pyi pyx r rb rs
    rst sass scala scss sh snap so sol sql sqlite sqlite3 svelte svg swift tar tex tf tfvars toml ts
    tsv tsx txt vue wasm webp whl xls xlsx xml yaml yml zig zip zsh
"""
_EXTENSIONS = frozenset(_KNOWN.split())
_LIBRARIES = re.compile("node|next|vue|react|express|nuxt|three|d3|ember|backbone|console|math")
_ROOTS = re.compile(
    "apps?|backend|bin|build|cmd|configs?|core|dist|docs|examples|frontend|include|internal|libs?"
    "|migrations|packages|pkg|public|scripts|server|src|static|templates|tests?|tools|utils|vendor"
    "|web"
)

_ENDS = r"\s\"'`<>(){}|,;=*?!#&^“”‘’…\u3000-\u303f\uff00-\uffef"
_TOKEN = re.compile(rf"(?<![^{_ENDS}])[^{_ENDS}./\\]*+[./\\][^{_ENDS}]*+")
"""A word with a dot or a slash in it; looked for from its beginning alone."""
_ASCII_RUN = re.compile(r"[!-~\u00c0-\u024f]+")
_WINDOWS = re.compile(r"(?:[A-Za-z]:[\\/]|\\\\[\w.-]+\\|\.{1,2}\\)[\w.@+~%$\\/\[\]-]*\w")
_PIECE = re.compile(r"[^:\\]+")
_ROOTED = re.compile(r"(?:~|\.{1,2}|@|\$[A-Z_]+)?/")
_POSIX = re.compile(r"[\w.@+%~$/\[\]-]+")
_EXTENSION = re.compile(r"(?:^|[\w\])-])\.([A-Za-z][A-Za-z0-9]{0,9})$")
_GREP_LINE = re.compile(r"(\.[A-Za-z][A-Za-z0-9]{0,9})-\d+(?:-.*)?$")
_MIXED = re.compile(r"[^:\\]*?\.[A-Za-z][A-Za-z0-9]{0,5}(?![A-Za-z0-9_./-])")
_DOT_FILE = re.compile(
    r"\.(?:env(?:\.\w{1,20})?|[a-z]{2,14}(?:ignore|rc)|editorconfig|gitattributes)"
)
_PLACEHOLDER = re.compile(r"(?:[})*]|<[\w -]{1,40}>)$")
_TEMPLATE = re.compile(r"%[\d.]*[sd]|\.\.\.|//|\$\d")
_DIFF = re.compile(r"(?:^|\n)(?:(?:---|\+\+\+) |diff --git (?:a/[^\s]+ )?)$")
_SUFFIX = re.compile(r"[._](?:tests?|spec|bench|stories|min|d|config|module)")
_EVERYWHERE = frozenset(("/dev/null", "/usr/bin/env"))
_LETTER = re.compile(r"[^\W\d_]")
_TECHNICAL = re.compile(r"[a-z][A-Z]|[\d_.-]")


def paths(text: str) -> Iterator[tuple[int, str]]:
    """The paths of a text with the place where each begins, in order, repeated as they repeat."""
    for token in _TOKEN.finditer(text):
        word = token[0]
        if len(word) <= MAX_PATH:
            called = text[token.end() : token.end() + 1] == "("
            start = token.start()
            if text.startswith("#!", start - 2) and start > 1:
                continue  # what runs a script
            if word[:2] in ("a/", "b/") and _DIFF.search(text, max(0, start - MAX_PATH), start):
                start, word = start + 2, word[2:]
            # In "<id>/0/a.json" and "${DIR}/a/b.py" what stands behind the placeholder is no path.
            tail = word[0] == "/" and _PLACEHOLDER.search(text, max(0, start - 42), start)
            for at, path in _in_word(word, called):
                if at > 0 or not tail:
                    yield start + at, path


def _in_word(word: str, called: bool) -> Iterator[tuple[int, str]]:
    windows = _WINDOWS.match(word)
    if windows and len(windows[0]) > 4:
        yield 0, windows[0]
        return
    for offset, run in _runs(word):
        for piece in _PIECE.finditer(run):
            bare, start = piece[0], piece.start()
            if start and run[start - 1] == "\\" and bare[0] in "nrt":
                bare, start = bare[1:], start + 1  # a line end as JSON writes it
            start += len(bare) - len(bare.lstrip("["))
            bare = _GREP_LINE.sub(r"\1", bare.lstrip("[").rstrip(".-"))
            if bare.count("[") != bare.count("]"):
                bare = bare.rstrip("]")
            if bare and is_path(bare, called=called and piece.end() == len(run)):
                yield offset + start, bare


def _runs(word: str) -> Iterator[tuple[int, str]]:
    """Where in a word a path may stand: Chinese text has no blanks around it, and may be in it."""
    at = 0
    while run := _ASCII_RUN.search(word, at):
        mixed = _MIXED.match(word, run.start()) if "/" in run[0] else None
        at = max(run.end(), mixed.end() if mixed else 0)
        yield run.start(), word[run.start() : at]


def is_path(word: str, *, called: bool = False) -> bool:
    """Whether a word is a path; ``called`` says that a parenthesis opens behind it."""
    if not _POSIX.fullmatch(word) or _TEMPLATE.search(word) or word in _EVERYWHERE:
        return False
    segments = [segment for segment in word.split("/") if segment]
    if not any(_LETTER.search(segment) for segment in segments):
        return False
    last = segments[-1]
    extension = _EXTENSION.search(last)
    known = extension is not None and extension[1].lower() in _EXTENSIONS
    if word[0] == "-":
        return False  # an option, with or without a path behind it
    if "/" not in word:
        stem = last.rpartition(".")[0]
        known = known and not _SUFFIX.fullmatch(stem)
        named = known and len(stem) > 1 and not _LIBRARIES.fullmatch(stem.lower())
        named = named and not called and bool(_LETTER.search(stem))
        return named or bool(_DOT_FILE.fullmatch(word))
    if _ROOTED.match(word):
        # "/full.jsonl" and "/0/full.jsonl" are the ends of paths that a program puts together.
        if word[0] == "/" and not _LETTER.search(segments[0]):
            return False
        return len(segments) > 1 or (known and word[0] not in "@/")
    if known:
        return not all(_EXTENSION.search(segment) for segment in segments)
    if word.count("/") < 2 or len(segments) < 2 or min(map(len, segments)) < 2:
        return False
    # "read/write/execute" is English; a path shows a root, a digit, a dash or a mixed case.
    return bool(_ROOTS.fullmatch(segments[0])) or any(map(_TECHNICAL.search, segments))
