"""Commands that people and models run from a shell, as far as somebody would want them again.

How the tests are run, what builds and deploys: yes. What only looked at files (``ls``, ``grep``,
``git log``) is made up anew each time, and so is a script that was piped in; what only shortens the
output (``2>&1 | tail -60``) belongs to no command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

COMMAND_LENGTH = 300
_PROGRAM_NAMES = """
    alembic ansible apt apt-get awk aws az bash brew bun bundle bunx cargo cat cd chmod chown claude
    cmake codex cp crontab ctest ctxlog curl cypress dbt deno df dnf docker docker-compose dotnet du
    eslint ffmpeg find flask gcc gcloud gem gh git go gradle grep gunicorn head helm http httpie
    jest journalctl jq kill kubectl less ln ls make mix mkdir mv mvn mypy mysql nc ninja node npm
    npx nvm openssl php pip pip3 pipx playwright pnpm podman poetry pre-commit prettier prisma psql
    pytest python python3 rails rake redis-cli rg rm rsync ruby ruff rustc rustup scp sed sh source
    sqlite3 ssh swift systemctl tail tar terraform tox tsc tsx uv uvicorn uvx vercel vite vitest
    wget xcodebuild yarn zsh
"""
_PROGRAMS = frozenset(_PROGRAM_NAMES.split())
_PROMPT = re.compile(rf"^[ \t]{{0,12}}\$ (\S[^\n]{{0,{COMMAND_LENGTH}}})", re.MULTILINE)
_TICKED = re.compile(rf"(?<!`)`([^`\n]{{3,{COMMAND_LENGTH}}})`(?!`)")
_FENCE = re.compile(
    r"^```(?:bash|sh|shell|console|zsh)\b[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE
)
_FENCED = re.compile(rf"^[ \t]{{0,12}}(\w[^\n]{{2,{COMMAND_LENGTH}}})", re.MULTILINE)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


_SHORTENED = re.compile(
    r"(?:\s*(?:\d?>&\d|\d?>\s?/dev/null|\|\|\s?true|\|\s?(?:head|tail|cat|less)(?:\s-?\w+){0,3}))+\s*$"
)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_PARTS = re.compile(r"\s*(?:&&|\|\|?|;)\s*")
_LOOKING_NAMES = """
    awk cat cd cut diff du df echo egrep fgrep file find grep head jq less ls nl pwd rg sort stat
    tail tree type uniq wc which
"""
_LOOKING = frozenset(_LOOKING_NAMES.split())
_LOOKING_GIT_NAMES = "blame branch diff grep log ls-files remote rev-parse show status"
_LOOKING_GIT = frozenset(_LOOKING_GIT_NAMES.split())
_ASKING = frozenset(("--version", "-V", "--help", "-h", "version", "help"))
_WRITES = re.compile(r"(?<![\d&])>|\s-(?:exec\s(?!grep|cat|head|ls|wc)|delete\b|i\b)")
_SCRIPT = re.compile(r"(?:python3?|node|ruby|perl|bash|sh)\s-[ce]\b")


def is_program(word: str) -> bool:
    """Whether a word is the name of a program that people run from a shell."""
    return word in _PROGRAMS


def is_command(line: str) -> bool:
    """Whether a line is a known program, or a script of the folder, with something behind it."""
    words = line.split(maxsplit=12)
    while words and (words[0] == "sudo" or _ASSIGNMENT.match(words[0])):
        words = words[1:]
    if (
        len(words) < 2
        or words[-1] == "..."
        or not (words[0] in _PROGRAMS or words[0].startswith("./"))
    ):
        return False
    # "git rebase" and "cat -n" are spoken of; "npm test" and "git push origin" are meant to be run.
    return len(words) > 2 or (words[0] != "git" and words[1][0] != "-")


def only_looks(line: str) -> bool:
    """Whether nothing in a line does more than look at what is there, or run a script in it."""
    bare = _SHORTENED.sub("", _QUOTED.sub("''", line))
    return not _WRITES.search(bare) and all(map(_looks, filter(None, _PARTS.split(bare))))


def _looks(part: str) -> bool:
    program, *given = part.split(maxsplit=3)
    if program == "git":
        return bool(given) and given[0] in _LOOKING_GIT
    if program == "sed":
        return given[:1] == ["-n"]
    if _SCRIPT.match(part):
        return True
    return program in _LOOKING or (len(given) == 1 and given[0] in _ASKING)


def command(line: str) -> str:
    """The command of a line; empty where it is none that somebody would want again."""
    found = _SHORTENED.sub("", line.strip(" \t\r\\"))
    return found if "<<" not in found and is_command(found) else ""


def commands(text: str) -> Iterator[tuple[int, str]]:
    """Commands at a prompt, in ticks and in blocks of a shell, with the place of each."""
    for match in _PROMPT.finditer(text):
        found = _SHORTENED.sub("", match[1].rstrip(" \t\r\\"))
        if "<<" not in found:
            yield match.start(1), found
    for match in _TICKED.finditer(text):
        if found := command(match[1]):
            yield text.index(found, match.start(1)), found
    for block in _FENCE.finditer(text):
        for match in _FENCED.finditer(block[1]):
            if found := command(match[1]):
                yield block.start(1) + match.start(1), found
