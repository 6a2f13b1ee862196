"""``cli/report/page/requests.js``: what the page makes of a request is what the program makes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from demo_log import demo_log
from hostile_transcripts import TEXTS
from joined import Table
from playwright.sync_api import expect
from reported import demo_report
from test_requests import ALL_TEXTS, PATHS, STYLES, evil, record, written

from cli.naming import place
from cli.render_request import render_request
from cli.report.requests import bodies
from cli.requests import before_sending, request_of_call
from eventlog import StreamKey
from eventlog.errors import InputRefused
from projections import Live, open_log

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
SCRIPT = (ROOT / "cli" / "report" / "page" / "requests.js").read_text()

ALL = """({pieces, bodies, texts}) => {
  %s
  return bodies.map((body) => {
    const needed = textsNeeded(pieces, body.runs);
    body.text = joinPieces(pieces, body.runs, (number) => {
      if (!needed.has(number)) throw new Error(`${number} was not asked for`);
      return texts[number];
    });
    let python;
    try { python = asPython(body); } catch (error) { python = "cannot: " + error.message; }
    const before = ["curl", "python"].map((form) => beforeSending(body, form));
    return [body.text, asCurl(body), python, ...before];
  });
}"""

LONG = {name: text * (1 + 300 // max(1, len(text))) for name, text in TEXTS.items()}
ODD = [
    "it's", '"', "it's \"", "\\", "$(x) `x` ${x} $x", "\u2028\u2029\x7f\x00\x1b\x85\xa0\xad",
    "\u200d👩\u200d💻 e\u0301 \u034f\u115f\u3164\ufe0f\ufe0f", "日本 é 😀 \U0001f468\U000e0041",
    "\ufe0f\U000e0100 and é", "</script><!--", "\\u0041 \\0101 %s %b", "\U00013430\U00013000",
]  # fmt: skip


def told(live: Live, key: StreamKey) -> tuple[dict[str, Any], list[list[Any]]]:
    """What the page is given of a session, and what it has to make of it."""
    table = Table()
    made = bodies(live, key, table.add, every=True)
    assert not made.faults
    given = {
        "pieces": made.pieces,
        "bodies": [asdict(body) for body in made.bodies.values()],
        "texts": table.texts,
    }
    wanted = []
    for number in made.bodies:
        data = request_of_call(live, place(live, f"{key}@c{number}"))
        try:
            python = render_request(data, "python")
        except InputRefused as error:
            python = "cannot: " + str(error).replace("--as ", "")
        before = [before_sending(data, form) for form in ("curl", "python")]
        wanted.append([data.text, render_request(data, "curl"), python, *before])
    return json.loads(json.dumps(given)), wanted


def check(page: Page, db: Path) -> int:
    count = 0
    with open_log(db) as live:
        for info in live.log.streams():
            given, wanted = told(live, info.key)
            for found, expected in zip(page.evaluate(ALL % SCRIPT, given), wanted, strict=True):
                assert found == expected
                count += 1
    return count


def test_the_demo(page: Page, tmp_path: Path) -> None:
    assert check(page, demo_log(tmp_path)) > 40


@pytest.mark.parametrize("dialect", PATHS)
def test_hostile_bodies(page: Page, dialect: str, tmp_path: Path) -> None:
    """Of every client, with every text in every place."""
    texts = [*ODD, *LONG.values(), ALL_TEXTS]
    made = [written(evil(dialect, text), style) for text in texts for style in STYLES]
    record(tmp_path / "r.db", "https://api.test/v1" + PATHS[dialect] + "?beta=a%20b&x=", dialect,
           *made, headers={"anthropic-version": "2023-06-01", "openai-beta": "it's"})  # fmt: skip
    assert check(page, tmp_path / "r.db") == len(made)


def test_values_that_javascript_would_change(page: Page, tmp_path: Path) -> None:
    odd: dict[str, Any] = {
        "model": "m", "stream": True, "seed": 12345678901234567890123, "temperature": 1.0,
        "top_p": 1e22, "user": None, "store": False, "metadata": {"2": -0.0, "1": []},
        "messages": [{"role": "user", "content": "hi"}],
    }  # fmt: skip
    odd["metadata"] |= {"__proto__": {}}
    made = [json.dumps(odd).encode()]
    made += [json.dumps({**odd, "stream": stream}).encode() for stream in (0, [], "yes", {}, [0])]
    for number, url in enumerate(["https://a.test/v1/x/y", "http://a.test:1/v1/chat/completions"]):
        record(tmp_path / f"{number}.db", url, "openai_chat", *made)
        assert check(page, tmp_path / f"{number}.db") == len(made)


def test_what_a_rebuilt_request_lacks_stands_beside_the_buttons_and_in_the_copy(
    page: Page, tmp_path: Path
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{demo_report(tmp_path)}#c12")
    page.wait_for_selector("html.ready")
    section = page.locator("details.request")
    section.locator("summary").click()
    expect(section.locator("summary")).to_contain_text("request as rebuilt")
    expect(section.locator("li.bad")).to_have_text(
        "never recorded, and the API asks for it: max_tokens"
    )
    with open_log(demo_log(tmp_path)) as live:
        data = request_of_call(live, place(live, "last@c12"))
    for form in ("curl", "python"):
        label = {"curl": "curl", "python": "Python"}[form]
        section.get_by_role("button", name=label).click()
        expect(page.locator("#said")).to_have_text(f"{label} copied")
        copied = page.evaluate("navigator.clipboard.readText()")
        notes = [*data.notes, *before_sending(data, form)]
        lines = copied.split("\n")
        assert lines[len(notes) :] == render_request(data, form).split("\n")
        for note, line in zip(notes, lines, strict=False):
            assert line.removeprefix("# ").strip("'") == note


def test_a_note_runs_nothing_where_a_shell_takes_no_comments(page: Page) -> None:
    note = "it's $(id) `id`; id\nid > /tmp/x"
    made = page.evaluate(f"() => {{ {SCRIPT}; return comments([{json.dumps(note)}], true); }}")
    assert made == "# 'it'\\''s $(id) `id`; id\\u000aid > /tmp/x'\n"
