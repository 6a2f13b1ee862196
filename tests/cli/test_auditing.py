"""``audit``: every call with its verdict, what left and by which decision, and the findings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import recorded_calls
from demo_log import demo_log
from running import ROOT, run
from small_log import KEY, said, small_log

from cli.models_audit import AuditData
from cli.render_audit import render_audit
from cli.style import Style
from eventlog import Draft
from eventlog.errors import CriticalUnknown
from eventlog.events import (
    ContextCompacted,
    MessageAppended,
    ModelCalled,
    ModelFailed,
    ModelResponded,
    NewMessage,
    PlaceholderSubstituted,
    Usage,
)
from projections import open_log
from projections.audit.auditing import RULES

NAME = "refunds-0001"
CALL = ModelCalled(model="gpt-test", dialect="openai_chat")


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return small_log(tmp_path)


def audited(*args: str | Path, code: int = 1) -> dict:
    result = run("audit", *args, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)["data"]


def broken(folder: Path) -> Path:
    """A log with a call whose request is not the one that was recorded."""
    path = folder / "broken.db"
    with open_log(path) as live:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        made = recorded_calls.record(live, KEY, "openai_chat", body)
        live.append(KEY, ModelResponded(call=made.position))
        (call,) = live.log.read(KEY, types=["model_called"])
        assert isinstance(call.event, ModelCalled)
        forged = call.event.model_copy(update={"request_digest": "0" * 64})
        salt = live.log.salts(KEY, [call.position])[call.position]
        at = live.append(KEY, Draft(forged, salt=salt)).last
        live.append(KEY, ModelResponded(call=at))
    return path


def called(shown: str) -> list[tuple[str, str]]:
    """The rows of calls: the name, and what stands last."""
    rows = (line for line in shown.splitlines() if re.match(r"[●✂Σ○!] c\d", line))
    return [(line.split()[1], re.split(r"  +", line)[-1]) for line in rows]


class TestCalls:
    """What a person asks first: which call saw what."""

    def test_each_call_has_its_verdict_items_tokens_and_prefix_break(self, db: Path) -> None:
        rows = audited(NAME, "--db", db)["calls"]
        assert [(r["call"], r["verdict"], r["items"], r["prefix_break"]) for r in rows] == [
            ("c1", "rebuilt", 2, None),
            ("c2", "rebuilt", 4, None),
            ("c3", "rebuilt", 6, "substitution"),
            ("c4", "rebuilt", 3, "compaction"),
        ]
        assert [r["billed"] for r in rows] == [120, 220, None, 70]
        assert all(r["tokens"] > 0 for r in rows)

    def test_it_names_what_left_and_by_which_decision(self, db: Path) -> None:
        last = audited(NAME, "--db", db)["calls"][-1]
        moves = [(m["kind"], m["by"], m["items"]) for m in last["moves"]]
        assert moves[0] == ("summarised", "k1", ["4-10"])
        assert ("rewound", "19", ["18"]) in moves
        shown = run("audit", NAME, "--db", db).stdout
        assert re.search(r"^Σ c4 +rebuilt .*Σ 4 summarised by k1 ≈63→≈14 \(auto\)", shown, re.M)

    def test_calls_of_which_nothing_is_to_be_told_share_a_row(self, tmp_path: Path) -> None:
        log = demo_log(tmp_path)
        rows = called(run("audit", "last", "--db", log).stdout)
        assert ("c1-c15", "15 calls, nothing left") in rows
        assert ("c34", "unseen") in rows, "what a finding is about stands by itself"
        assert len([name for name, _ in rows if name in ("c16", "c23", "c29")]) == 3
        covered = [int(each) for name, _ in rows for each in re.findall(r"\d+", name)]
        assert covered == sorted(set(covered)), "each call once, in order"
        whole = called(run("audit", "last", "--all-calls", "--db", log).stdout)
        assert [name for name, _ in whole] == [f"c{n}" for n in range(1, 45)]
        assert len(audited("last", "--db", log)["calls"]) == 44

    def test_with_a_rule_there_are_findings_alone(self, tmp_path: Path) -> None:
        log = demo_log(tmp_path)
        assert called(run("audit", "last", "--rule", "pairs", "--db", log).stdout) == []
        shown = run("audit", "last", "--rule", "pairs", "--all-calls", "--db", log).stdout
        assert len(called(shown)) == 44

    def test_with_prefix_the_rows_are_those_of_the_cache(self, db: Path) -> None:
        found = audited(NAME, "--prefix", "--db", db)
        assert [row["call"] for row in found["prefix"]["rows"]] == [1, 2, 3, 4]
        assert "reusable" in run("audit", NAME, "--prefix", "--db", db).stdout

    def test_what_became_of_everything_adds_up(self, db: Path) -> None:
        (session,) = audited(NAME, "--db", db)["sessions"]
        account = session["coverage"]
        assert sum(state["items"] for state in account["states"]) == account["items"] == 9
        assert sum(s["tokens_left"] for s in account["states"]) == account["context_tokens"]


class TestFindings:
    """A script decides by the exit code, a person by the words."""

    def test_the_planted_losses_of_the_demo_are_found(self, tmp_path: Path) -> None:
        found = audited("8f31", "--db", demo_log(tmp_path))["findings"]
        told = {(a["kind"], a["text"]) for f in found for a in f["anchors"]}
        planted = json.loads((ROOT / "cli" / "demo" / "anchors.json").read_text())
        lost = [one for one in planted if not one["in_summary"] and one["kind"] in ("id", "url")]
        assert len(lost) == 5
        for one in lost:
            assert (one["kind"], one["text"]) in told
        kept = [one for one in planted if one["in_summary"] and one["kind"] in ("id", "rule")]
        assert not told & {(one["kind"], one["text"]) for one in kept}
        (rule,) = [f for f in found if f["rule"] == "broken_rules"]
        assert rule["refs"] == ["k1", "3", "c35", "178"]
        assert rule["anchors"][0]["used"] == ["c35"]
        assert "curl" in rule["message"]

    def test_what_to_type_next_stands_behind_each(self, db: Path) -> None:
        found = audited(NAME, "--db", db)["findings"]
        assert f"recover {NAME} --lost k1" in {f["next"] for f in found}
        shown = run("audit", NAME, "--db", db).stdout
        assert re.search(rf"→ .*ctxlog.*recover {NAME} --lost k1$|→ \S.* recover", shown, re.M)

    @pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("info", 1)])
    def test_the_level_decides_about_the_exit_code(self, db: Path, level: str, code: int) -> None:
        assert run("audit", NAME, "--fail-on", level, "--db", db).exit_code == code

    def test_a_rule_that_finds_nothing_leaves_with_0(self, db: Path) -> None:
        result = run("audit", NAME, "--rule", "pairs", "--rule", "bill", "--db", db)
        assert result.exit_code == 0
        assert "nothing found by: pairs, bill" in result.stdout
        assert "no findings" in result.stdout

    def test_only_the_rules_that_were_named_are_told(self, db: Path) -> None:
        found = audited(NAME, "--rule", "anchors", "--db", db)
        assert found["rules"] == ["anchors"]
        assert {f["rule"] for f in found["findings"]} == {"anchors"}

    def test_a_broken_call_leaves_with_4_whatever_was_asked(self, tmp_path: Path) -> None:
        db = broken(tmp_path)
        for more in ([], ["--rule", "bill"], ["--fail-on", "error"]):
            assert run("audit", NAME, *more, "--db", db).exit_code == 4
        (found,) = audited(NAME, "--rule", "verdicts", "--db", db, code=4)["findings"]
        assert (found["severity"], found["refs"]) == ("error", ["c2"])

    def test_many_findings_of_one_rule_are_folded_until_it_is_named(self, tmp_path: Path) -> None:
        from bench.audit import session

        db = tmp_path / "many.db"
        session(db, 1200, recorded=False, size=80)
        shown = run("audit", "audited", "--db", db).stdout
        assert re.search(r"^info +anchors: \d+ more; --rule anchors shows them$", shown, re.M)
        assert "more; --rule" not in run("audit", "audited", "--rule", "anchors", "--db", db).stdout

    @pytest.mark.parametrize(
        ("rules", "where"), [(2, "--rule unseen shows them"), (1, "--json has all")]
    )
    def test_of_ten_thousand_some_are_shown_and_the_rest_is_counted(
        self, rules: int, where: str
    ) -> None:
        data = many_findings(sessions=1, each=10_000, rules=rules)
        lines = list(render_audit(data, Style(), {}, "ctxlog", every=False, calls="none"))
        assert len(lines) < 1_000
        more = re.search(r"unseen: ([\d,]+) more; (.*)$", "\n".join(lines), re.M)
        assert more is not None
        named = sum("WARN" in line for line in lines) - 1
        assert (named + int(more[1].replace(",", "")), more[2]) == (10_000, where)
        assert lines[-1] == "10,000 warnings"
        assert len(data.model_dump()["findings"]) == 10_000


def many_findings(sessions: int, each: int, rules: int) -> AuditData:
    """What an audit by some rules finds, without the sessions."""
    finding = {
        **{"rule": "unseen", "severity": "warning", "refs": ["c5"], "message": "c5 spoke of “x”"},
        **{"heuristic": True, "next": "why s 5@c5", "position": 5, "count": 1, "anchors": []},
    }
    keys = [f"u/a/s{number}" for number in range(sessions)]
    counts = {"error": 0, "warning": each, "info": 0}
    row = {"fork_of": None, "calls": 9, "verdicts": {}, "findings": counts, "coverage": None}
    return AuditData.model_validate(
        {
            **{"rules": ["unseen", "pairs"][:rules], "fail_on": "warning", "counter": "utf8/4"},
            "sessions": [{"key": key, **row} for key in keys],
            "calls": [],
            "findings": [{"session": key, **finding} for key in keys for _ in range(each)],
        }
    )


class TestAll:
    """Who has a hundred sessions wants to know which of them to look at."""

    def test_each_session_has_a_row_and_the_ones_with_findings_those(self, db: Path) -> None:
        found = audited("--all", "--db", db)
        assert [row["key"].split("/")[2] for row in found["sessions"]] == ["retry", NAME]
        assert {f["session"] for f in found["findings"]} == {str(KEY)}
        assert len(found["calls"]) == 4
        shown = run("audit", "--all", "--db", db).stdout
        assert re.search(r"^retry +no calls · no findings$", shown, re.M)
        assert re.search(rf"^{NAME} +rebuilt 4, 1 failed · 1 warning, \d info$", shown, re.M)
        assert "2 sessions: 1 warning" in shown

    def test_one_that_cannot_be_read_does_not_hide_the_others(
        self, db: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import cli.audits

        real = cli.audits.audit

        def failing(live, key, rules, **more):  # type: ignore[no-untyped-def]
            if key.session == "retry":
                raise CriticalUnknown(str(key), 3, "from_the_future")
            return real(live, key, rules, **more)

        monkeypatch.setattr(cli.audits, "audit", failing)
        result = run("audit", "--all", "--db", db)
        assert result.exit_code == 5
        assert re.search(r"^retry +! .*from_the_future", result.stdout, re.M)
        assert "rebuilt 4" in result.stdout

    def test_of_many_sessions_each_has_a_row_and_the_first_ones_their_findings(self) -> None:
        data = many_findings(sessions=2_000, each=5, rules=2)
        lines = list(render_audit(data, Style(), {}, "ctxlog", every=True))
        assert sum("5 warnings" in line for line in lines) == 2_000
        assert sum(line.startswith("WARN") for line in lines) == 200
        assert "9,800 more findings in 1,960 sessions: audit S shows those of one" in lines[-2]
        assert lines[-1] == "2,000 sessions: 10,000 warnings"

    def test_an_empty_log_has_no_findings(self, tmp_path: Path) -> None:
        with open_log(tmp_path / "empty.db"):
            pass
        result = run("audit", "--all", "--db", tmp_path / "empty.db")
        assert (result.exit_code, result.stdout) == (0, "0 sessions: no findings\n")


class TestRefused:
    """A wrong line says what to do."""

    @pytest.mark.parametrize(
        ("args", "words"),
        [
            ([], "name the session to audit, or say --all"),
            ([NAME, "--all"], "name the session to audit, or say --all"),
            (["--all", "--prefix"], "--prefix goes with one session"),
            ([NAME, "--rule", "bil"], "no rule 'bil'; there are verdicts, coverage"),
            ([f"{NAME}@c2"], f"whole sessions are audited: {NAME}, without @c2"),
        ],
    )
    def test_it_is_told_and_the_exit_code_is_2(self, db: Path, args: list[str], words: str) -> None:
        result = run("audit", *args, "--db", db)
        assert result.exit_code == 2
        assert words in result.stderr

    def test_an_unknown_session_leaves_with_3(self, db: Path) -> None:
        assert run("audit", "nowhere", "--db", db).exit_code == 3

    def test_the_help_tells_of_every_rule(self) -> None:
        shown = run("audit", "--help").stdout
        for rule in RULES:
            assert re.search(rf"^  {rule}: \S", shown, re.M), rule
        assert "Example: ctxlog audit last" in shown


class TestShown:
    """It is read on many terminals, and what it shows was written by anybody."""

    @pytest.mark.parametrize("width", [40, 72, 200])
    def test_the_rows_keep_to_the_width(self, db: Path, width: int) -> None:
        shown = run("audit", NAME, "--db", db, "--width", str(width)).stdout
        rows = [line for line in shown.splitlines() if "→" not in line]
        assert max(map(len, rows)) <= max(width, 60)

    def test_an_imported_session_is_audited_whole(self, samples: Path, tmp_path: Path) -> None:
        db = tmp_path / "s.db"
        for path in sorted((samples / "claude-code").glob("cc0[34]*.jsonl")):
            run("import", path, "--db", db)
        found = audited("--all", "--db", db)
        assert sorted(
            len([c for c in found["calls"] if c["session"] == s["key"]]) for s in found["sessions"]
        ) == [48, 131]
        warnings = [f for f in found["findings"] if f["severity"] == "warning"]
        assert 1 <= len(warnings) <= 12
        assert [f["rule"] for f in found["findings"] if f["severity"] == "error"] == []
        assert {"bill", "anchors"} <= {f["rule"] for f in warnings}

    def test_a_message_without_a_call_is_no_error(self, tmp_path: Path) -> None:
        db = tmp_path / "m.db"
        with open_log(db) as live:
            said = {"role": "user", "content": "hi"}
            live.append(KEY, MessageAppended(dialect="openai_chat", source="human", message=said))
        result = run("audit", NAME, "--db", db)
        assert (result.exit_code, "no findings" in result.stdout) == (0, True)


class TestWhatBecameOfEverything:
    """Without it the account is a row for every placeholder, and its sums are not those above."""

    def test_is_told_once_for_all_substitutions_and_once_for_a_compaction(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "l.db"
        with open_log(path) as live:
            live.append(KEY, said("user", "Look."), said("user", "x" * 400), said("user", "y" * 80))
            live.append(KEY, CALL)
            live.append(KEY, said("assistant", "so", call=4), ModelResponded(call=4))
            for item in ("2", "3"):
                cleared = {"item": item, "content": "[cleared]", "reason": f"to save {item}"}
                live.append(KEY, PlaceholderSubstituted.model_validate(cleared), CALL)
            live.append(KEY, said("user", "never given to any call"))
            new = NewMessage(dialect="openai_chat", message={"role": "user", "content": "so far"})
            live.append(KEY, ContextCompacted(covered=("1", "11"), messages=(new,), trigger="auto"))
        shown = " ".join(run("audit", KEY.session, "--db", path).stdout.split())
        assert "· 2 edited (cleared) ≈" in shown
        assert "· 2 summarised by k1 (auto) ≈16, 1 of them given to no call; 4 items in" in shown


class TestTheRowsOfCalls:
    """Without these a column of decisions names rules nobody can place."""

    def test_how_well_a_call_is_known_has_its_own_column_and_breaks_no_run(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "l.db"
        with open_log(path) as live:
            live.append(KEY, said("user", "x"))
            for at in (2, 5, 8):
                live.append(KEY, CALL, said("assistant", "so", call=at), ModelResponded(call=at))
        assert run("redact", KEY.session, "3", "--yes", "--db", path).exit_code == 0
        shown = run("audit", KEY.session, "--db", path).stdout
        assert "findings" in shown.splitlines()[1]
        assert "info  verdicts: " in shown
        assert [row[0] for row in called(shown)] == ["c1-c3"]


class TestFailures:
    """Of twenty calls with a wrong key it said that nothing was found."""

    def failed(self, folder: Path) -> Path:
        path = folder / "failed.db"
        with open_log(path) as live:
            live.append(KEY, said("user", "hi"), CALL, said("assistant", "ho", call=2))
            live.append(KEY, ModelResponded(call=2, usage=Usage(input=27)))
            for error, status in (("invalid key", 401), ("no route to host", None)):
                at = live.append(KEY, CALL).last
                live.append(KEY, ModelFailed(call=at, error=error, status=status))
        return path

    def test_a_call_that_failed_says_why(self, tmp_path: Path) -> None:
        db = self.failed(tmp_path)
        found = audited(NAME, "--db", db, code=0)
        calls = [(c["outcome"], c["status"], c["error"]) for c in found["calls"]]
        assert calls == [
            ("answered", None, ""),
            ("failed", 401, "invalid key"),
            ("failed", None, "no route to host"),
        ]
        assert [s["failed"] for s in found["sessions"]] == [2]
        shown = run("audit", NAME, "--db", db).stdout
        assert "3 calls, partial, 2 failed" in shown.splitlines()[0]
        (row,) = (line for line in shown.splitlines() if " c2 " in line)
        assert row.endswith("401 invalid key")
        assert "failed: no route to host (c3)" in shown
        assert "2 failed" in run("audit", "--all", "--db", db).stdout

    def test_a_figure_that_is_not_known_is_no_empty_place(self, tmp_path: Path) -> None:
        path = tmp_path / "b.db"
        with open_log(path) as live:
            for usage in (Usage(input=1), Usage(input=27), None):
                at = live.append(KEY, said("user", "hi"), CALL).last
                live.append(KEY, ModelResponded(call=at, usage=usage))
        assert " 1→- " in run("audit", NAME, "--db", path).stdout
