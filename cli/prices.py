"""What ``--prices`` names: a table as it is typed, one of the config, a model, or ``recorded``.

Tables of the config come first, so that what a person has agreed with a provider counts more than
what a library says of a model with the same name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from cli.config import Config, config
from cli.safetext import display_width, one_line, safe_text
from eventlog.errors import InputRefused
from projections.metrics.prices import Prices, Unknown
from projections.recording import Recording, Step

RECORDED = "recorded"
"""The models that the recorded calls used, a table for each."""

_FIELDS = {"in": "input", "cached": "cache_read", "write": "cache_write", "out": "output"}
_USAGE = "in=…, cached=…, write=…, out=… (per million tokens)"
_MODEL = re.compile(r"(?=.*[A-Za-z])[\w@][\w@.:/+\[\]-]{0,199}", re.ASCII)
_MOST = 1e12
"""No price is higher: sums of larger ones would be no number any more."""

_CURRENCY = 5
"""Columns of a currency: it stands over its column."""

_NAME = 60
"""Columns of a model's name in a warning; a log may hold any."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The tables that were asked for; a text is the name of a model, or ``recorded``."""

    given: tuple[Prices | str, ...] = ()
    own: Mapping[str, Prices] = field(default_factory=dict)
    """Those of the config, by name."""


def asked_prices(typed: Sequence[str]) -> Asked:
    """What was typed behind ``--prices``, each time. Raises InputRefused."""
    texts = [text.strip() for text in typed]
    own = priced(config()) if any("=" not in text for text in texts) else {}
    return Asked(tuple(_asked(text, own) for text in texts), own)


def _asked(text: str, own: Mapping[str, Prices]) -> Prices | str:
    if "=" in text:
        return prices_of(text)
    if text in own:
        return own[text]
    if text != RECORDED and not _MODEL.fullmatch(text):
        raise InputRefused(
            f"--prices: {text!r} is no table such as in=3,out=15 (per million tokens), no name in "
            f"the config or of a model, and not {RECORDED!r}"
        )
    return text


def prices_of(text: str) -> Prices:
    """A price table, per million tokens: ``in=3,cached=0.3,write=3.75,out=15``.

    Without ``cached`` and ``write`` these cost what the input costs. Raises InputRefused.
    """
    given: dict[str, float] = {}
    for pair in text.split(","):
        key, equals, value = (piece.strip() for piece in pair.partition("="))
        if not equals or key not in _FIELDS:
            raise InputRefused(f"--prices: {pair.strip()!r} is none of {_USAGE}")
        try:
            given[key] = float(value)
        except ValueError:
            raise InputRefused(f"--prices: {key}={value!r} is no number") from None
        if not 0 <= given[key] <= _MOST:
            raise InputRefused(f"--prices: {key}={value} is no price")
    return _table(text.replace(" ", ""), given, "--prices")


def _table(name: str, given: Mapping[str, float], where: str, **more: str) -> Prices:
    if missing := [key for key in ("in", "out") if key not in given]:
        raise InputRefused(f"{where}: {' and '.join(missing)} is missing")
    full = {"cached": given["in"], "write": given["in"], **given}
    rates = {_FIELDS[key]: price for key, price in full.items()}
    return Prices.model_validate({"name": name, **rates, **more})


# -- the config -----------------------------------------------------------------------------------


def priced(of: Config) -> dict[str, Prices]:
    """The tables ``[prices.NAME]`` of a config. Raises InputRefused."""
    found = of.table("prices", "price tables, such as [prices.mine]")
    return {name: _configured(of, name, table) for name, table in found.items()}


def _configured(of: Config, name: str, table: Any) -> Prices:
    where = f"{of.path}: [prices.{_key(name)}]"
    if not isinstance(table, dict):
        raise InputRefused(f"{where} is no table with in = …, out = …")
    if name == RECORDED:
        raise InputRefused(f"{where}: {RECORDED!r} means the models of the recorded calls")
    if "=" in name or not name or name != name.strip():
        raise InputRefused(f"{where}: a name without '=', as it can be typed, is needed")
    currency = table.get("currency", "")
    if not isinstance(currency, str) or not _is_short(currency):
        raise InputRefused(f"{where}: currency is no short text such as 'EUR'")
    given: dict[str, float] = {}
    for key, value in table.items():
        if key == "currency":
            continue
        if key not in _FIELDS:
            raise InputRefused(f"{where}: {key!r} is none of {', '.join(_FIELDS)}, currency")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputRefused(f"{where}: {key} is no number")
        if not 0 <= value <= _MOST:
            raise InputRefused(f"{where}: {key} is no price")
        given[key] = value
    return _table(name, given, where, currency=currency, source="the config")


def _is_short(text: str) -> bool:
    plain = safe_text(text, newlines=False) == text and not any(map(str.isspace, text))
    return plain and display_width(text) <= _CURRENCY


def _key(name: str) -> str:
    """A name as a key of TOML."""
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", name)
    return name if bare else json.dumps(name, ensure_ascii=False)


def price_names(incomplete: str) -> list[str]:
    """For shell completion: ``recorded`` and tables of the config that begin so. Never raises."""
    try:
        own = list(priced(config()))
    except Exception:  # a shell that asks for a completion has no place for an error
        own = []
    names = [RECORDED, *(name for name in own if safe_text(name, newlines=False) == name)]
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


# -- of models ------------------------------------------------------------------------------------


def tables_for(asked: Asked, recordings: Sequence[Recording]) -> list[Prices | Unknown]:
    """The tables that were asked for, each once; a model's as it was when the calls were made.

    Raises InputRefused for a name that says nothing to anybody: neither the library nor a call that
    was recorded knows it, so it is a slip, and every cost of it would be incomplete.
    """
    calls = [step for each in recordings for step in each.steps if step.kind == "call"]
    times = list(dict.fromkeys(step.when for step in calls))
    found: list[Prices | Unknown] = []
    for each in asked.given:
        if isinstance(each, Prices):
            found.append(each)
        elif each == RECORDED:
            models = dict.fromkeys(step.text for step in calls if step.text)
            found += [of_model(name, asked.own, times) for name in models]
            if not models:
                found.append(Unknown(name=RECORDED))
        else:
            table = of_model(each, asked.own, times)
            if isinstance(table, Unknown) and not _is_called(each, calls):
                raise InputRefused(_unheard_of(each, asked.own))
            found.append(table)
    return list(dict.fromkeys(found))


def _is_called(name: str, calls: Sequence[Step]) -> bool:
    """Whether a recorded call named the model, which may be typed with its provider in front."""
    return any(name == step.text or name.endswith(f"/{step.text}") for step in calls if step.text)


def _unheard_of(name: str, own: Mapping[str, Prices]) -> str:
    from harness.prices import library, model_names

    near = get_close_matches(name, [RECORDED, *own, *model_names()], 1)
    hint = f"did you mean {near[0]!r}? Else give" if near else "give"
    return (
        f"--prices: {library()} has no prices of {one_line(name, _NAME)!r}, and no call here names "
        f"it; {hint} them with --prices in=…,out=… or as [prices.{_key(one_line(name, _NAME))}] in "
        "the config"
    )


def of_model(name: str, own: Mapping[str, Prices], times: Sequence[str]) -> Prices | Unknown:
    """The table of a model as it was at some times, or one of the config with that name."""
    if name in own:
        return own[name]
    from harness.prices import model_prices

    return model_prices(name, times)


def prices_warnings(tables: Sequence[Prices | Unknown]) -> list[str]:
    """What to do about each table of which nothing is known."""
    found = []
    for table in tables:
        if not isinstance(table, Unknown):
            continue
        if table.name == RECORDED:
            whose = "the recorded calls do not say which model they used"
            key = "NAME"
        else:
            from harness.prices import library

            name = one_line(table.name, _NAME)
            whose = f"{library()} has no prices of {name}"
            key = _key(name)
        found.append(
            f"{whose}, so this cost is incomplete; give them with --prices in=…,out=… or as "
            f"[prices.{key}] in the config"
        )
    return found
