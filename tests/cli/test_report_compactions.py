"""What the page is told of compactions and clearings: what `show`, `recover` and the audit say."""

from __future__ import annotations

from pathlib import Path

import pytest
from demo_log import demo_log
from model_server import completion, serving
from running import ROOT, data, run
from small_log import small_log

from cli.report.compactions import cost_of, takings
from cli.report.model_compactions import Runs, StandingData, TakingData
from cli.report.session import Reading, read
from eventlog import StreamKey
from harness.importers import import_path
from harness.prices import model_prices
from projections import Live, open_log
from projections.memory.past import Pasts
from projections.metrics.prices import Prices
from projections.usage import UsageTotals

SAMPLES = ROOT.parent / "shared" / "samples"
DEMO = "8f31"
FIGURES = (
    *("by", "before_tokens", "before_estimated", "before_recorded"),
    *("after_tokens", "after_estimated", "after_recorded"),
)


def reading(live: Live, session: str) -> Reading:
    keys = [info.key for info in live.log.streams() if info.key.session.startswith(session)]
    return read(live, keys[0], Pasts(live))


def taken(db: Path, session: str) -> dict[str, TakingData]:
    with open_log(db) as live:
        return {each.name: each for each in takings(reading(live, session))}


def flat(runs: Runs) -> list[int]:
    return [first + at for first, count in runs for at in range(count)]


def stood(before: list[int], standing: StandingData | None) -> list[int]:
    assert standing is not None
    return before[: standing.keep] + flat(standing.add)


def contexts(db: Path, session: str) -> list[tuple[str, list[str], list[str]]]:
    """Of each compaction the renditions before and behind it, as the page puts them together."""
    with open_log(db) as live:
        reads = reading(live, session)
        found, last = [], list[int]()
        for each in takings(reads):
            if each.kind == "compaction":
                before = stood(last, each.before)
                last = stood(before, each.after)
                sides = ([reads.renditions[n].rendition for n in rows] for rows in (before, last))
                found.append((each.name, *sides))
    return [(name, before, behind) for name, before, behind in found]


def window(db: Path, place: str) -> list[str]:
    items = data("show", place, "--context", "--db", db)["items"]
    return [item["rendition"] for item in items]


class TestCompactions:
    """Without this the page would tell another story of a compaction than the commands."""

    @pytest.mark.parametrize("name", ["demo", "small"])
    def test_its_figures_are_those_of_show(self, name: str, tmp_path: Path) -> None:
        db = demo_log(tmp_path) if name == "demo" else small_log(tmp_path)
        session = DEMO if name == "demo" else "refunds-0001"
        shown = data("show", f"{session}@k1", "--db", db)["compaction"]
        found = taken(db, session)["k1"]
        assert {f: getattr(found, f) for f in FIGURES} == {f: shown[f] for f in FIGURES}
        assert (found.count, found.trigger) == (shown["left_count"], "auto")

    def test_both_contexts_come_out_of_the_differences(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        ((name, before, behind),) = contexts(db, "refunds-0001")
        assert before == window(db, f"refunds-0001@{name}^")
        assert behind == window(db, f"refunds-0001@{name}")
        assert "8@12" in before
        assert "16.0" in behind

    @pytest.mark.parametrize(
        ("sample", "name"),
        [
            ("claude-code/cc03_compact_2microcompact_v2.1.17.jsonl", "fdd24234"),
            ("codex/cx02_2compact_v0.142.jsonl", ""),
        ],
        ids=["cc03", "cx02"],
    )
    def test_both_contexts_of_every_compaction_of_a_real_session(
        self, sample: str, name: str, tmp_path: Path
    ) -> None:
        if not (SAMPLES / sample).exists():
            pytest.skip("the samples are not here")
        db = tmp_path / "s.db"
        with open_log(db) as live:
            import_path(live.log, SAMPLES / sample)
        key = data("sessions", "--db", db)["sessions"][0]["key"]
        found = contexts(db, StreamKey.parse(key).session)
        assert found
        for at, before, behind in found:
            assert (before, behind) == (
                window(db, f"{key}@{at}^"),
                window(db, f"{key}@{at}"),
            )

    def test_a_compaction_of_the_agent_is_its_own_and_one_of_a_fork_is_ours(
        self, tmp_path: Path
    ) -> None:
        db = demo_log(tmp_path)
        run("fork", DEMO, "--name", "mine", "--db", db)
        run("run", "mine", "-s", "compact:keep_turns=1", "--db", db)
        found = taken(db, "mine")
        owners = {name: each.owner for name, each in found.items()}
        assert (owners["77"], owners["k1"], owners["k2"]) == ("agent", "agent", "log")
        assert "keep_turns" in found["k2"].by

    def test_what_was_undone_says_by_which_event(self, tmp_path: Path) -> None:
        db = small_log(tmp_path)
        assert run("undo", "refunds-0001", "k1", "--db", db).exit_code == 0
        found = taken(db, "refunds-0001")
        assert (found["k1"].undone_by, found["25"].undone_by, found["12"].undone_by) == (
            *(27, 26),
            None,
        )

    def test_an_item_that_was_erased_since_stands_as_what_is_left_of_it(
        self, tmp_path: Path
    ) -> None:
        db = small_log(tmp_path)
        assert run("redact", "refunds-0001", "4", "--yes", "--db", db).exit_code == 0
        ((_, before, _),) = contexts(db, "refunds-0001")
        assert "4@redacted" in before
        assert "4" not in before


class TestSingleItems:
    """A microcompact takes more out of sight than many a compaction, and tells nobody."""

    def test_what_was_cleared_between_two_calls_is_what_show_says(self, tmp_path: Path) -> None:
        db = demo_log(tmp_path)
        shown = data("show", f"{DEMO}@77", "--db", db)["substitutions"]
        with open_log(db) as live:
            reads = reading(live, DEMO)
            found = {each.name: each for each in takings(reads)}["77"]
            names = [
                (reads.renditions[was].rendition, reads.renditions[now].rendition)
                for was, now in found.changed
            ]
        assert names == [
            (each["item"], f"{each['item']}@{each['position']}") for each in shown["items"]
        ]
        assert found.before_recorded == sum(each["tokens"] for each in shown["items"])
        assert found.after_recorded == sum(each["shown_tokens"] for each in shown["items"])
        assert (found.did, found.trigger, found.count) == ("cleared", "microcompact", 8)

    def test_a_revision_is_a_decision_too(self, tmp_path: Path) -> None:
        found = taken(small_log(tmp_path), "refunds-0001")["20"]
        assert (found.kind, found.did, found.count) == ("revision", "revised", 1)


class TestLostLiterals:
    """The page counts what the audit lists; the command that it names must not say otherwise."""

    def test_they_are_as_many_as_recover_gives_word_for_word(self, tmp_path: Path) -> None:
        db = demo_log(tmp_path)
        lost = data("recover", DEMO, "--lost", "k1", "--all", "--db", db)
        literals = [one for each in lost["sentences"] for one in each["literals"]]
        with open_log(db) as live:
            found = reading(live, DEMO).audit.findings
        of_k1 = [each for each in found if each.rule == "anchors" and each.refs[0] == "k1"]
        listed = {one.text for each in of_k1 for one in each.anchors}
        assert listed == {one["text"] for one in literals if not one["in_other_words"]}
        assert sum(each.count for each in of_k1) == len(listed)


class TestSummarizer:
    """A summary costs money and reads only a part; both are recorded and both are told."""

    @pytest.fixture
    def db(self, tmp_path: Path) -> Path:
        path = demo_log(tmp_path)
        assert run("fork", f"{DEMO}@76", "--name", "raw", "--db", path).exit_code == 0
        return path

    def compacted(self, db: Path, model: str) -> TakingData:
        with serving(lambda request: completion("The rounding of refunds is the cause.")) as server:
            args = ["run", "raw", "-s", "compact:keep_turns=1,trigger_tokens=2000"]
            more = ["--summarizer", model, "--base-url", server.url, "--db", str(db)]
            assert run(*args, *more, OPENAI_API_KEY="k").exit_code == 0
        return [each for each in taken(db, "raw").values() if each.kind == "compaction"][-1]

    def test_its_usage_costs_what_the_prices_of_its_model_say(self, db: Path) -> None:
        found = self.compacted(db, "gpt-4o-mini")
        of = found.summarizer
        assert of is not None
        assert of.usage is not None
        assert (of.model, of.shown_count) == ("gpt-4o-mini", found.count)
        prices = model_prices("gpt-4o-mini", [found.at])
        assert isinstance(prices, Prices)
        assert of.usage.input is not None
        assert of.usage.output is not None
        paid = of.usage.input * prices.input + (of.usage.cached or 0) * prices.cache_read
        assert of.cost == pytest.approx((paid + of.usage.output * prices.output) / 1e6)
        assert (of.currency, of.prices.split()[0]) == ("USD", "genai-prices")

    def test_a_model_without_a_price_has_no_cost_and_not_none_at_all(self, db: Path) -> None:
        of = self.compacted(db, "some-model").summarizer
        assert of is not None
        assert of.usage is not None
        assert (of.cost, of.prices) == (None, "")

    def test_what_it_was_not_shown_is_as_many_as_the_audit_says(self, db: Path) -> None:
        spec = "compress:max_messages=20,keep_recent=2,at=model_call"
        assert run("run", "raw", "-s", spec, "--db", db).exit_code == 0
        with open_log(db) as live:
            reads = reading(live, "raw")
            found = {one.name: len(flat(one.not_shown)) for one in takings(reads) if one.not_shown}
        errors = [f for f in reads.audit.findings if (f.rule, f.severity) == ("summaries", "error")]
        assert errors
        assert found == {finding.refs[0]: finding.count for finding in errors}

    def test_what_an_agent_did_not_write_down_is_not_made_up(self, tmp_path: Path) -> None:
        assert taken(demo_log(tmp_path), DEMO)["k1"].summarizer is None

    def test_a_count_that_nobody_told_is_not_zero(self) -> None:
        prices = Prices(name="p", input=1, cache_read=0.1, cache_write=2, output=4)
        told = UsageTotals(input=1_000_000, cached=2_000_000, output=500_000)
        assert cost_of(told, prices, "") == pytest.approx(3.2)
        assert cost_of(UsageTotals(input=5), prices, "") is None
