"""Keys and passwords in what is to be remembered: models are shown that in later sessions."""

from __future__ import annotations

from collections.abc import Iterable

from eventlog.events import Event
from eventlog.jsonvalue import dumps
from projections.findings import for_secrets, masked
from projections.passwords import password_in
from projections.quotes import texts_in


def key_in(*texts: str, values: Iterable[object] = ()) -> tuple[str, str] | None:
    """The shape of the first key in some texts and values, and a glance of it; None: there is none.

    Raises InputRefused without ``detect-secrets``.
    """
    whole = [text for text in texts if text]
    whole += [value if isinstance(value, str) else dumps(value) for value in values]
    look = for_secrets()
    found = next((match for text in whole for match in look.scan(text)), None)
    if found is not None:
        return found[0], found[1]
    password = next(filter(None, map(password_in, whole)), None)
    return ("password", masked(password)) if password is not None else None


def key_in_event(event: Event) -> tuple[str, str] | None:
    """The same of all that an event says, by whatever name. Raises as ``key_in`` does."""
    return key_in(*texts_in(event.model_dump()))
