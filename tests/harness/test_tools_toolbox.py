"""The tools of a conversation: which are there, which are active, and other agents among them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tool_session import session

from eventlog.agent import ToolGroupsSet
from eventlog.errors import InputRefused
from harness.tools import Toolbox, group_tool, tool, toolbox


def first() -> None: ...


def second() -> None: ...


class TestToolbox:
    """A model that is told of a tool that is not there calls it for ever."""

    def test_tools_without_a_group_are_always_active(self) -> None:
        box = Toolbox([tool(second, group="g"), first, tool(second, name="third", group="h")])
        assert box.groups == ("g", "h")
        assert [each["function"]["name"] for each in box.definitions(())] == ["first"]
        assert [each["function"]["name"] for each in box.definitions({"h", "g", "x"})] == [
            "second",
            "first",
            "third",
        ]
        assert box.find("second", ()) is None
        assert (found := box.find("second", ("g",))) is not None
        assert found.name == "second"

    def test_a_call_of_what_is_not_there_is_told_what_is(self) -> None:
        box = Toolbox([first, tool(second, group="g")])
        assert box.missing("x", ()) == "there is no tool 'x'; there are: first"
        assert box.missing("x", ("g",)) == "there is no tool 'x'; there are: first, second"
        assert box.missing("second", ()) == (
            "the tool 'second' belongs to the group 'g', which is not active"
        )
        assert Toolbox().missing("x", ()) == "there is no tool 'x'; there are: none at all"

    def test_a_name_stands_for_one_tool(self) -> None:
        with pytest.raises(InputRefused, match="two tools called 'first'"):
            Toolbox([first, tool(second, name="first")])

    def test_it_is_made_of_the_tools_of_another(self) -> None:
        assert len(Toolbox([*Toolbox([first]), second])) == 2


class TestBuiltIn:
    """``--tools files,shell``: what is misspelt must not be left out silently."""

    PLANNER = ("plan", "update_task", "list_tasks")
    FILES = ("read_file", "write_file", "edit_file", "list_files", "search_files")

    @pytest.mark.parametrize(
        ("names", "there"),
        [
            ("", PLANNER),
            ("files", PLANNER + FILES),
            ("shell", (*PLANNER, "shell")),
            (" shell , files,files ", (*PLANNER, *FILES, "shell")),
            ("none", ()),
        ],
    )
    def test_they_are_named(self, tmp_path: Path, names: str, there: tuple[str, ...]) -> None:
        box = toolbox(names, tmp_path)
        assert tuple(each.name for each in box) == there
        for each in box:
            json.dumps(each.definition)
            assert each.description
            described = each.parameters["properties"].values()
            assert all(field.get("description") for field in described), each.name

    def test_what_runs_twice_without_harm_is_known(self, tmp_path: Path) -> None:
        box = toolbox("files,shell", tmp_path)
        effects = {each.name for each in box if each.has_effects}
        assert effects == {"write_file", "edit_file", "shell"}

    @pytest.mark.parametrize("names", ["file", "files;shell", "files,none", "Files"])
    def test_another_name_is_refused(self, tmp_path: Path, names: str) -> None:
        with pytest.raises(InputRefused):
            toolbox(names, tmp_path)

    def test_a_folder_that_is_none_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for name, why in (("gone", "No such file or directory"), ("file", "it is no folder")):
            with pytest.raises(InputRefused, match=why):
                toolbox("files", tmp_path / name)
        with pytest.raises(InputRefused, match="null byte"):
            toolbox("files", Path("a\0b"))


class TestGroups:
    """A group that the model activates stays active, also after a restart."""

    def test_they_are_added_to_those_that_are_active(self, tmp_path: Path) -> None:
        box = Toolbox([group_tool({"files": "work on files", "web": "look things up"})])
        with session(tmp_path, box) as tools:
            assert box.definitions(())[0]["function"]["description"] == (
                "Get the tools of more groups. files: work on files; web: look things up"
            )
            tools.said("activate_tools", groups=["web"])
            outcome = tools.call("activate_tools", groups=["files", "web"])
            assert outcome.events == (ToolGroupsSet(groups=("web", "files")),)
            assert tools.call("activate_tools", groups=["web"]).events == ()
            for groups, why in ((["x"], "no group 'x'; there are: files, web"), ([], "name a")):
                assert why in tools.fault("activate_tools", groups=groups)
        with session(tmp_path, box) as tools:
            assert tools.state.tools.groups == ("web", "files")

    def test_there_is_one_at_least(self) -> None:
        with pytest.raises(InputRefused, match="no groups"):
            group_tool({})
