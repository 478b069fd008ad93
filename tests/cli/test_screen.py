"""What people see: plain text in pipes and files, styles in terminals, nothing taken for markup."""

from __future__ import annotations

import pytest

from dynid.cli.output import Screen
from dynid.core.text import TextTable

TABLE = TextTable("title", ("joint", "error"), [["[bold]j1[/bold]", "4.3 %"], ["j", ""]])


def test_a_table_in_a_pipe_is_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    screen.print("a [red]line[/red] \\[x]", style="bold")
    screen.print(TABLE)
    screen.print()
    shown = capsys.readouterr().out.splitlines()
    assert shown == [
        "a [red]line[/red] \\[x]",
        "title",
        "joint            error",
        "[bold]j1[/bold]  4.3 %",
        "j",
        "",
    ]


def test_a_terminal_shows_the_same_words_with_styles(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    screen = Screen()
    screen.print("a [red]line[/red] :smile:", style="bold")
    screen.print(TABLE)
    shown = capsys.readouterr().out
    assert "\x1b[1ma [red]line[/red] :smile:\x1b[0m" in shown
    assert "[bold]j1[/bold]" in shown
    assert "4.3 %" in shown


def test_a_table_without_rows_or_title_is_its_head() -> None:
    assert TextTable("", ("a", "bc"), []).lines() == ["a  bc"]
