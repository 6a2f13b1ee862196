"""A title that is cut and does not say so reads as what somebody meant."""

from __future__ import annotations

from pathlib import Path

from cli.report.served_log import ServedLog
from cli.report.session import read, session_data
from cli.report.texts import Texts
from eventlog import StreamKey
from eventlog.events import MessageAppended
from projections import Live, open_log
from projections.memory.past import Pasts

SHORT = "Why is the refund of order ORD-77120 one cent too much, now?"
LONG = "Why is the refund of order ORD-77120 one cent too much, and who gets the cent that is left?"


def asked(live: Live, key: str, text: str) -> StreamKey:
    live.append(
        key,
        MessageAppended.model_validate(
            {
                "dialect": "openai_chat",
                "source": "human",
                "message": {"role": "user", "content": text},
            }
        ),
    )
    return StreamKey.parse(key)


def shown(live: Live, key: StreamKey) -> str:
    return session_data(read(live, key, Pasts(live)), Texts(), key.session).title


def test_the_list_says_where_a_title_is_cut_and_a_session_shows_more_of_it(tmp_path: Path) -> None:
    assert len(SHORT) == 60
    with open_log(tmp_path / "t.db") as live:
        whole = asked(live, "ann/bot/short", SHORT)
        cut = asked(live, "ann/bot/long", LONG)
        very = asked(live, "ann/bot/very", LONG + " " + "And why? " * 20)
        titles = {each.key: each.title for each in ServedLog(live, ()).listed(0, "").sessions}
        assert titles[str(whole)] == SHORT
        assert titles[str(cut)] == "Why is the refund of order ORD-77120 one cent too much, and…"
        assert shown(live, whole) == SHORT
        assert shown(live, cut) == LONG
        assert len(shown(live, very)) <= 121
        assert shown(live, very).endswith("…")
