"""Prompts in files: a folder of YAML files, or one of them.

What is given is always what stands in the file now. It is looked at again at each ``get`` and read
again when it changed; a file that is broken, or gone, is an error at the next ``get``, and what
stood there before is never given in its place.

A name is data and no path: its pieces are names of folders and of a file below the folder, and what
a link leads to has to lie below it too.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Lock
from time import sleep

from harness.prompts.reading import SETTLED_NS, Content, mark_of, read_settled
from projections.prompts.faults import PromptMissing, PromptUnreadable, listed, near_misses, short
from projections.prompts.parsing import parse
from projections.prompts.template import Rendered, Template

ENDINGS = (".yaml", ".yml")

TESTS = ".test"
"""How the name of a file of tests ends, in front of that. It may stand beside the prompts, and is
none of them."""

MOST_BYTES = 1 << 20
"""Of one file; the parser has a limit of its own, in characters."""

MOST_FILES = 10_000
"""Of one folder, and as many folders in it: over that it is none of prompts, a home or a disk, and
nobody wants to wait for it."""

_LONGEST = 500
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What a name stood for when it was last read."""

    content: Content
    templates: dict[str, Template]


class Prompts:
    """The templates of a folder with YAML files, or of one such file.

    Safe to share between threads.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._known: dict[str, _Known] = {}
        self._lock = Lock()

    @classmethod
    def bundled(cls) -> Prompts:
        """The prompts that come with this program."""
        return cls(str(files("harness.prompts").joinpath("bundled")))

    def get(self, name: str, role: str = "") -> Template:
        """A template, as its file holds it now.

        Raises PromptMissing where there is none of that name or role, with those that are like it,
        and PromptUnreadable where the file cannot be read, with its name and the line.
        """
        found = self.roles(name)
        if role in found:
            return found[role]
        if not role:
            detail = f"the prompt {name} has roles: name one of {listed(found)}"
            raise PromptMissing(name, detail, near=tuple(found))
        if "" in found:
            raise PromptMissing(
                name, f"the prompt {name} has no roles, so no {short(role)}", role=role
            )
        near = near_misses(role, found)
        hint = f"; is {near[0]!r} meant?" if near else f"; it has {listed(found)}"
        detail = f"the prompt {name} has no role {short(role)}{hint}"
        raise PromptMissing(name, detail, role=role, near=near)

    def roles(self, name: str) -> dict[str, Template]:
        """The templates of one file by their roles. Raises what ``get`` raises."""
        try:
            with self._lock:
                return dict(self._read(name, self._found(name)))
        except FileNotFoundError:
            raise self._missing(name) from None

    def names(self) -> list[tuple[str, str]]:
        """All names with their roles, in their order. Raises what ``get`` raises."""
        return [(name, role) for name in self.files() for role in self.roles(name)]

    def files(self) -> list[str]:
        """The names of all files, whatever they hold. Raises PromptMissing, PromptUnreadable."""
        if self._is_folder():
            return sorted(dict.fromkeys(self._walked()))
        return [self.path.stem]

    def file_of(self, name: str) -> str:
        """The path of the file that a name stands for. Raises what ``get`` raises."""
        return str(self._found(name))

    def render(self, name: str, role: str = "", /, **variables: object) -> list[dict[str, str]]:
        """The messages of a template. Raises what ``get`` and ``Template.render`` raise."""
        return self.rendered(name, role, **variables).messages()

    def rendered(self, name: str, role: str = "", /, **variables: object) -> Rendered:
        """A template that was filled in, with what it was made of."""
        return self.get(name, role).render(**variables)

    def system_prompt(self, name: str, role: str = "", /, **variables: object) -> str:
        """The system text of a template, which alone has to have its variables.

        Raises what ``get`` and ``Template.render`` raise, PromptMissing where it has none.
        """
        return self.get(name, role).only("system").render(**variables).system

    # -- where a file is ---------------------------------------------------------------------------

    def _is_folder(self) -> bool:
        try:
            mode = os.stat(self.path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            raise PromptMissing("", f"{self.path}: there is no such folder or file") from None
        except (OSError, ValueError) as error:
            detail = getattr(error, "strerror", None) or str(error)
            raise PromptUnreadable(str(self.path), detail) from None
        if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
            raise PromptUnreadable(str(self.path), "it is neither a folder nor a file")
        if stat.S_ISREG(mode) and self.path.stem.endswith(TESTS):
            raise PromptUnreadable(str(self.path), "it is a file of tests, and no prompt")
        return stat.S_ISDIR(mode)

    def _found(self, name: str) -> Path:
        """Where the file of a name really is. Raises PromptMissing.

        An editor may move the old file away before it writes the new one, so one that was there at
        the last look is looked for twice.
        """
        if name in self._known:
            with contextlib.suppress(PromptMissing):
                if file := self._file(name):
                    return file
            self._known.pop(name, None)
            sleep(SETTLED_NS / 1e9)
        if file := self._file(name):
            return file
        raise self._missing(name)

    def _file(self, name: str) -> Path | None:
        """Where the file of a name really is; None where there is none."""
        if not self._is_folder():
            return self.path.resolve() if name == self.path.stem else None
        if not _is_name(name) or name.endswith(TESTS):
            return None
        there = [
            file for ending in ENDINGS if os.path.lexists(file := self.path / f"{name}{ending}")
        ]
        if len(there) > 1:
            raise PromptUnreadable(str(there[0]), f"{there[1].name} stands beside it: keep one")
        return self._inside(there[0]) if there else None

    def _inside(self, file: Path) -> Path | None:
        try:
            real = file.resolve(strict=True)
        except FileNotFoundError:
            if not file.is_symlink():
                return None
            raise PromptUnreadable(str(file), "it is a link that leads nowhere") from None
        except (OSError, RuntimeError) as error:
            raise PromptUnreadable(str(file), getattr(error, "strerror", "") or "a loop") from None
        if not real.is_relative_to(self.path.resolve()):
            raise PromptUnreadable(str(file), "it is a link that leads out of the folder")
        return real

    def _walked(self) -> Iterator[str]:
        count = 0
        walk = os.walk(self.path, onerror=_refuse)
        for number, (folder, folders, found) in enumerate(walk):
            if number > MOST_FILES:
                raise PromptUnreadable(str(self.path), f"over {MOST_FILES:,} folders stand in it")
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for file in sorted(found):
                stem, ending = os.path.splitext(file)
                name = (Path(folder).relative_to(self.path) / stem).as_posix()
                if ending not in ENDINGS or stem.endswith(TESTS) or not _is_name(name):
                    continue
                count += 1
                if count > MOST_FILES:
                    raise PromptUnreadable(str(self.path), f"over {MOST_FILES:,} files stand in it")
                yield name

    def _missing(self, name: str) -> PromptMissing:
        known = self.files()
        near = near_misses(name, known)
        if name.endswith(TESTS):
            hint = f"files that end in {' or '.join(TESTS + each for each in ENDINGS)} are tests"
        elif near:
            hint = f"is {near[0]!r} meant?"
        else:
            hint = f"there are {listed(known)}" if known else f"it ends in {' or '.join(ENDINGS)}"
        return PromptMissing(name, f"no prompt {short(name)} in {self.path}; {hint}", near=near)

    # -- what it holds -----------------------------------------------------------------------------

    def _read(self, name: str, file: Path) -> dict[str, Template]:
        known = self._known.get(name)
        try:
            if known and known.content.is_certain and mark_of(os.stat(file)) == known.content.mark:
                return known.templates
            content = read_settled(file, MOST_BYTES, known.content if known else None)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise PromptUnreadable(str(file), error.strerror or str(error)) from None
        if known is not None and known.content.data == content.data:
            templates = known.templates
        else:
            templates = self._parsed(name, file, content)
        self._known[name] = _Known(content, templates)
        return templates

    def _parsed(self, name: str, file: Path, content: Content) -> dict[str, Template]:
        try:
            text = content.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.data.count(b"\n", 0, error.start) + 1
            raise PromptUnreadable(str(file), "it is no UTF-8", line) from None
        return parse(text, name, file=str(file))


def _refuse(error: OSError) -> None:
    raise PromptUnreadable(str(error.filename), error.strerror or str(error)) from None


def _is_name(name: str) -> bool:
    """Whether it can name a file below the folder: never upwards, never absolute, never hidden."""
    if len(name) > _LONGEST or "\\" in name or not name.isprintable():
        return False
    return all(piece and not piece.startswith(".") for piece in name.split("/"))
