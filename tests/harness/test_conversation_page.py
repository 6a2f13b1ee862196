"""docs/conversations.md: its lines run, and do what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from model_server import serving
from scripted import Reply, following

from projections import open_log

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conversations.md"


def test_its_examples_without_a_model_give_what_it_says() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 3
    assert result.failed == 0


def test_its_first_example_runs_twice_and_goes_on_with_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answers(said: str, rounds: int) -> Reply:
        city = said.split()[-1].rstrip("?")
        return [("weather", {"city": city})] if rounds == 0 else f"It rains in {city}."

    code = next(iter(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)))
    with serving(following(answers)) as server:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test-1234567")
        for _ in range(2):
            exec(compile(code, str(PAGE), "exec"), {"__name__": "page"})
    assert capsys.readouterr().out.startswith("It rains in Ulm.\n")
    with open_log(tmp_path / "agent.db") as live:
        said = [item.text for item in live.items("local/chat/monday") if item.is_human]
    assert len(said) == 4
