"""A shell's command, as far as rules have to understand it.

To allow, a command has to be a simple one: a program and its arguments, nothing that starts another
program, expands a variable or redirects. What is not understood is not allowed. To deny, or to ask,
a pattern may match anywhere: behind ``;``, inside of quotes, after ``sudo``. That is a guard
against what a model does by mistake; who wants to get past it can (``$(echo rm)``), so a rule that
denies some commands does not make the others safe.
"""

from __future__ import annotations

import re

from harness.tools.patterns import matches_from, matches_text

_SEPARATORS = re.compile(r"[;&|<>(){}$`\r\n]+")
_FIELD_SEPARATOR = re.compile(r"\$(?:\{IFS\}|IFS\b)")
_QUOTES = re.compile(r"\\\n|['\"\\]")
_SPECIAL = frozenset(";&|<>()$`")
"""What does something outside of quotes."""
_SPECIAL_IN_DOUBLE = frozenset("$`")


def is_simple(command: str) -> bool:
    """Whether it is one program with its arguments, for certain."""
    quote, escaped = "", False
    for character in command:
        if character < " " or character == "\x7f":
            return False  # a line feed ends a command, and no argument needs the others
        if escaped:
            escaped = False
        elif quote == "'":
            quote = "" if character == "'" else quote
        elif character == "\\":
            escaped = True
        elif quote == '"':
            if character in _SPECIAL_IN_DOUBLE:
                return False
            quote = "" if character == '"' else quote
        elif character in "'\"":
            quote = character
        elif character in _SPECIAL:
            return False
    return not quote and not escaped and bool(command.strip())


def allows(pattern: str, command: str) -> bool:
    """Whether a rule that allows this pattern allows this command."""
    return is_simple(command) and matches_text(pattern, command.strip())


def occurs(pattern: str, command: str) -> bool:
    """Whether a command is as the pattern says anywhere: from the beginning of a word on, to the
    end of it or of a part of it, with quotes and without them, with a program's folder and without
    it."""
    plain = _QUOTES.sub("", _FIELD_SEPARATOR.sub(" ", command))
    for text in (command, plain):
        for part in (text, *_SEPARATORS.split(text)):
            one_line = " ".join(part.split())
            if one_line and matches_from(pattern, one_line, _starts(one_line)):
                return True
    return False


def _starts(text: str) -> list[int]:
    starts = []
    at = 0
    for word in text.split(" "):
        starts.append(at)
        name = word.rfind("/") + 1
        if 0 < name < len(word):
            starts.append(at + name)
        at += len(word) + 1
    return starts
