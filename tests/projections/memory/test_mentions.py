"""Where a statement only names something, and where it is about it."""

from __future__ import annotations

import pytest

from projections.memory.mentions import without_asides
from projections.memory.spoken import HIDDEN
from projections.memory.subjects import about


@pytest.mark.parametrize(
    "text",
    [
        "Use httpie, not curl, against the dev server (python -m shop.api serves http://localhost:8123)",
        "Use curl with python servers",
        "Always add a shebang to bash scripts",
        "Never deploy on Black Friday",
        "I prefer prettier output",
        "Never use black backgrounds",
        "I love fish and chips",
        "I like mocha",
        "I prefer short functions",
        "Always write short commit messages",
        "Keep commit messages short",
        "提交信息要简短",
        "Always write detailed commit messages",
        "Never drop tables in production",
        "I prefer formal verification",
        "Never remove comments",
        "Never delete old docstrings",
        "Always reply to PR comments",
        "不要删除注释",
        "I keep 50 tabs open",
        "Always close browser tabs",
        "Never use spaces in file names",
        "以后中英文之间都加空格",
        "Never leave trailing spaces",
        "I prefer imperative programming",
        "Always log metric names",
        "Always use 16 characters for tokens",
        "passwords always have at least 12 characters",
        "以后变量名用英文",
        "以后都用英文命名变量",
        "Always write variable names in English",
        "Always answer customers with love",
        "Always close the SQLite connection",
        "Never start the Redis server",
        "Always use curl for the python service",
        "Always run `python -m shop.api` before you push",
        "Always run scripts/python/x.py first",
        "Never edit python-dotenv files",
        "以后都用 curl 测 Python 服务",
        "以后都给 bash 脚本加执行权限",
        "Always deploy to the postgres container",
        "Never ssh into the mysql host",
        "Always use VPN with python",
        "Always put configs (yarn, npm) in one file",
        "Never commit tests/jest/setup.js",
        "Always restart the npm registry",
        "I prefer short walks",
        "I like long books in detail",
        "Always use the staging key in python",
        "Never touch the zsh history",
        "I like Python's syntax",
        "I always use the debugger with vim",
        "Never run nano seconds timers",
        "Always use docker for pytest",
        "I prefer a shared server with postgres",
        "I prefer tables of contents",
    ],
)
def test_what_is_only_named_is_not_what_it_is_about(text: str) -> None:
    assert list(about(text)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I prefer tabs over spaces", "tabs"),
        ("Indent with 4 spaces in Python", "4 spaces"),
        ("Always write tests with pytest", "pytest"),
        ("Format code with black", "black"),
        ("Always format Python with black", "black"),
        ("I'm used to vim", "vim"),
        ("I switched to pnpm", "pnpm"),
        ("I like to work with vim", "vim"),
        ("I use vim", "vim"),
        ("Always use `pytest`", "pytest"),
        ("Always use `go test`", "go test"),
        ("I prefer Rust over Go", "Rust"),
        ("I prefer Rust as programming language", "Rust"),
        ("Write scripts in Python", "Python"),
        ("I like fish as my shell", "fish"),
        ("I use fish", "fish"),
        ("I prefer PostgreSQL to MySQL", "PostgreSQL"),
        ("Always use Postgres", "PostgreSQL"),
        ("I like code formatted with black", "black"),
        ("I prefer short answers", "short"),
        ("Be brief", "short"),
        ("keep it short", "short"),
        ("explain in detail what you do", "detailed"),
        ("I want detailed explanations", "detailed"),
        ("I prefer an informal tone", "informal"),
        ("Never use emojis", False),
        ("Never write comments", False),
        ("Never add comments to my code", False),
        ("Always add type hints in Python", True),
        ("answer in German", "German"),
        ("write to me in French", "French"),
        ("以后都用英文回答", "English"),
        ("请用中文回答", "Chinese"),
        ("我喜欢用 pytest", "pytest"),
        ("以后都用 black 格式化", "black"),
        ("我更喜欢 Rust", "Rust"),
        ("用 Python 写脚本", "Python"),
        ("Use metric units", "metric"),
        ("always use metric", "metric"),
        ("commit messages in the imperative", "imperative"),
        ("I prefer 100 columns", 100),
        ("Always use Python 3.12", "Python"),
        ("Prefer yarn over npm", "yarn"),
        ("Don't use yarn, use pnpm", "pnpm"),
        ("I prefer answers in tables", "tables"),
        ("I prefer bullet points", "bullet points"),
        ("Always use double quotes in bash", "double"),
        ("I use bash as my shell", "bash"),
        ("My editor is neovim", "neovim"),
        ("Use ruff for linting", "ruff"),
        ("Always run ruff before committing", "ruff"),
        ("以后回答简短一点", "short"),
        ("我喜欢暗色主题", "dark"),
        ("I use zsh on my laptop", "zsh"),
        ("I program in Go", "Go"),
        ("Install packages with uv", "uv"),
        ("Always use uv for Python", "uv"),
        ("Use black, not yapf", "black"),
        ("I use emacs with evil", "emacs"),
        ("以后都用两个空格缩进", "2 spaces"),
        ("Use tabs in Makefiles", "tabs"),
    ],
)
def test_what_it_is_about_is_found_beside_other_words(text: str, value: object) -> None:
    (found,) = about(text)
    assert list(found.values.values()) == [value]


def test_what_stands_aside_is_hidden_in_its_place() -> None:
    text = "Use a (b c) and `d e f` in src/x/y.py, `g` or 1/2 --hh"
    told = without_asides(text)
    assert len(told) == len(text)
    assert told.replace(HIDDEN, "") == "Use a  and  in , `g` or 1/2 "


@pytest.mark.parametrize(
    "text",
    ["(" * 400, "`" * 400, "a/" * 200, '"a ' * 130, "use " * 100, "use a with " * 36, "用" * 400],
)
def test_no_text_takes_long(text: str) -> None:
    """A sentence is no longer; what would be tried in every way would never end."""
    assert len(without_asides(text + " python")) == len(text) + 7
    list(about(text + " python"))
