"""Prompts in files: a folder of YAML files, or one of them.

What is given is always what stands in the file now. It is looked at again at each ``get`` and read
again when it changed; a file that is broken, or gone, is an error at the next ``get``, and what
stood there before is never given in its place.

A name is data and no path: its pieces are names of folders and of a file below the folder, and what
a link leads to has to lie below it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Lock

from harness.prompts.reading import Content, Unsettled, mark_of, read_settled
from projections.prompts.faults import PromptMissing, PromptUnreadable, listed, near_misses, short
from projections.prompts.parsing import parse
from projections.prompts.template import Rendered, Template

ENDINGS = (".yaml", ".yml")

MOST_BYTES = 1 << 20
"""Of one file; the parser has a limit of its own, in characters."""

MOST_FILES = 10_000
"""Of one folder: over it the folder is none of prompts."""

_LONGEST = 500
"""Characters of a name."""


@dataclass(frozen=True, slots=True)
class _Known:
    content: Content
    templates: dict[str, Template]


class Prompts:
    """The templates of a folder with YAML files, or of one such file.

    Safe to share between threads.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._known: dict[Path, _Known] = {}
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
        file = self._file(name)
        if file is None:
            raise self._missing(name)
        try:
            with self._lock:
                return dict(self._read(name, file))
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
        file = self._file(name)
        if file is None:
            raise self._missing(name)
        return str(file)

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
        if self.path.is_dir():
            return True
        if not os.path.lexists(self.path):
            raise PromptMissing("", f"{self.path}: there is no such folder or file")
        if self.path.exists() and not self.path.is_file():
            raise PromptUnreadable(str(self.path), "it is neither a folder nor a file")
        return False

    def _file(self, name: str) -> Path | None:
        """Where the file of a name really is; None where there is none."""
        if not self._is_folder():
            return self.path.resolve() if name == self.path.stem else None
        if not _is_name(name):
            return None
        there = [
            file for ending in ENDINGS if os.path.lexists(file := self.path / f"{name}{ending}")
        ]
        if len(there) > 1:
            raise PromptUnreadable(str(there[0]), f"{there[1].name} stands beside it: keep one")
        return self._inside(there[0]) if there else None

    def _inside(self, file: Path) -> Path:
        try:
            real = file.resolve(strict=True)
        except FileNotFoundError:
            raise PromptUnreadable(str(file), "it is a link that leads nowhere") from None
        except (OSError, RuntimeError) as error:
            raise PromptUnreadable(str(file), getattr(error, "strerror", "") or "a loop") from None
        if not real.is_relative_to(self.path.resolve()):
            raise PromptUnreadable(str(file), "it is a link that leads out of the folder")
        return real

    def _walked(self) -> Iterator[str]:
        count = 0
        for folder, folders, found in os.walk(self.path):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            for file in sorted(found):
                stem, ending = os.path.splitext(file)
                name = (Path(folder).relative_to(self.path) / stem).as_posix()
                if ending not in ENDINGS or not _is_name(name):
                    continue
                count += 1
                if count > MOST_FILES:
                    raise PromptUnreadable(str(self.path), f"over {MOST_FILES:,} files stand in it")
                yield name

    def _missing(self, name: str) -> PromptMissing:
        known = self.files()
        near = near_misses(name, known)
        if near:
            hint = f"is {near[0]!r} meant?"
        else:
            hint = f"there are {listed(known)}" if known else f"it ends in {' or '.join(ENDINGS)}"
        return PromptMissing(name, f"no prompt {short(name)} in {self.path}; {hint}", near=near)

    # -- what it holds -----------------------------------------------------------------------------

    def _read(self, name: str, file: Path) -> dict[str, Template]:
        known = self._known.get(file)
        try:
            if known and known.content.is_certain and mark_of(os.stat(file)) == known.content.mark:
                return known.templates
            content = read_settled(file, MOST_BYTES, known.content if known else None)
            if known is None or known.content.data != content.data:
                known = None
            templates = known.templates if known else self._parsed(name, file, content)
        except (OSError, PromptUnreadable) as error:
            self._known.pop(file, None)
            if isinstance(error, FileNotFoundError | PromptUnreadable):
                raise
            detail = str(error) if isinstance(error, Unsettled) else error.strerror or str(error)
            raise PromptUnreadable(str(file), detail) from None
        self._known[file] = _Known(content, templates)
        return templates

    def _parsed(self, name: str, file: Path, content: Content) -> dict[str, Template]:
        try:
            text = content.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.data.count(b"\n", 0, error.start) + 1
            raise PromptUnreadable(str(file), "it is no UTF-8", line) from None
        return parse(text, name, file=str(file))


def _is_name(name: str) -> bool:
    """Whether it can name a file below the folder: never upwards, never absolute, never hidden."""
    if len(name) > _LONGEST or "\\" in name or "\0" in name:
        return False
    return all(piece and not piece.startswith(".") for piece in name.split("/"))
