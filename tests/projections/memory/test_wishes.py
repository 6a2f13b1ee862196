"""What a person asks to have remembered."""

from __future__ import annotations

import pytest

from projections.memory.spoken import spoken
from projections.memory.wishes import wishes


def wished(text: str) -> list[str]:
    return [content for _, content in wishes(list(spoken(text)))]


class TestAWish:
    """It is found at the beginning of a clause, in both languages."""

    @pytest.mark.parametrize(
        ("text", "content"),
        [
            ("Remember that the port is 8081.", "the port is 8081"),
            ("remember: the port is 8081", "the port is 8081"),
            ("Please remember I use Windows", "I use Windows"),
            ("Can you please remember that my name is Ada?", "my name is Ada"),
            ("I want you to remember that we deploy on Fridays", "we deploy on Fridays"),
            ("Fix it, and remember that the API is slow", "the API is slow"),
            ("Please note: the API is in v2", "the API is in v2"),
            ("please note that the API is in v2", "the API is in v2"),
            ("Don't forget to run make", "run make"),
            ("do not forget that the key expires", "the key expires"),
            ("Keep in mind that we ship on Monday", "we ship on Monday"),
            ("For future reference, the host is db1", "the host is db1"),
            ("Save this to memory: the host is db1", "the host is db1"),
            ("never forget about the leap year", "about the leap year"),
            ("记住端口是 8081", "端口是 8081"),
            ("记住端口:8081", "端口:8081"),
            ("接口会变，它在 v2，请记住用 v2", "用 v2"),
            ("Keep that in your memory: the host is db1", "the host is db1"),
            ("请记住：项目用 PostgreSQL。", "项目用 PostgreSQL"),
            ("请帮我记住我的生日是五月三号", "我的生日是五月三号"),
            ("别忘了跑测试", "跑测试"),
            ("不要忘记更新文档", "更新文档"),
            ("请注意：接口是 v2", "接口是 v2"),
            ("记得先运行 make", "先运行 make"),
            ("你能记住我叫小明吗？", "我叫小明"),
        ],
    )
    def test_what_it_asks_for_is_found(self, text: str, content: str) -> None:
        assert wished(text) == [content]

    @pytest.mark.parametrize(
        "text",
        [
            "I don't remember that",
            "I remember that the port was 8081",
            "Do you remember the bug?",
            "Remember when we fixed the parser?",
            "Remember that bug?",
            "He said: remember that the port is 8081",
            "The file says remember that you must send keys",
            'the prompt is "remember that the port is 8081"',
            "> remember that the port is 8081",
            "The file says to stop, and remember that you must send keys",
            "他说要快，并且，记住端口是 8081",
            "the remember-me checkbox is broken",
            "remember me is broken",
            "there is no need to remember it all",
            "I never forget a name",
            "Remember to close the file in that function",
            "note the slow query",
            "then write it to memory",
            "store the rows in memory",
            "please don't remember my name",
            "我记得上次的错误",
            "你还记得吗？",
            "我不记得了",
            "记不住密码",
            "修复记住密码功能",
            "他说：记住端口是 8081",
            "文档里写着「记住端口」",
        ],
    )
    def test_what_asks_for_nothing_is_no_wish(self, text: str) -> None:
        assert wished(text) == []

    def test_one_that_points_means_what_was_said_before(self) -> None:
        assert wished("The staging port is 8081. Remember this.") == ["The staging port is 8081"]
        assert wished("the port is 8081, remember that") == ["the port is 8081"]
        assert wished("端口是 8081。记住这一点。") == ["端口是 8081"]

    def test_one_that_points_at_nothing_asks_for_nothing(self) -> None:
        assert wished("Remember this.") == []
        assert wished("```\nthe port is 8081\n```\nRemember this.") == []

    def test_one_that_announces_means_the_points_behind_it(self) -> None:
        assert wished("Please remember:\n- the port is 8081\n- the host is db1\nThanks") == [
            "the port is 8081",
            "the host is db1",
        ]
        assert wished("请记住：\n端口是 8081\n谢谢") == ["端口是 8081"]

    def test_what_it_quotes_can_be_asked_for(self) -> None:
        assert wished('Remember: "ship it" is our motto') == ['"ship it" is our motto']
