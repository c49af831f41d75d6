"""Help as it is read: groups, words for types, a screen per command, everything on demand."""

import inspect
from pathlib import Path
from typing import get_args

import pytest
from typer.main import get_command
from typer.models import OptionInfo

from ledgerframes.cli.app import app
from ledgerframes.cli.help import _WORDS


def test_commands_stand_in_groups(command):
    words = command("--help").out

    groups = ["Start", "Load", "Lake", "Tables and charts", "Care"]
    assert sorted(groups, key=words.index) == groups
    assert words.index(" sync ") < words.index(" sql ") < words.index(" plot ") < words.index(" repair ")
    assert "<bool>" not in words
    assert "Canton Network and Splice" in " ".join(words.replace("│", " ").split())[:200]


def test_help_fits_a_screen_says_no_type_of_python_and_names_its_option_in_one_order(command, monkeypatch):
    every = get_command(app)
    context = every.make_context("ledgerframes", [], resilient_parsing=True)
    for one in (every, *every.commands.values(), *every.commands["profile"].commands.values()):
        assert one.get_help_option_names(context) == ["-h", "--help", "--help-all"], one.name
    monkeypatch.setenv("COLUMNS", "120")
    for info in app.registered_commands:
        words = command(name := info.name or info.callback.__name__, "--help").out

        assert 0 < len(words.splitlines()) <= 55, name
        assert not any(kind in words for kind in ("<bool>", "list[", "<float>", "<str>", "<path>")), name
        for option, parameter in inspect.signature(info.callback, eval_str=True).parameters.items():
            (declared,) = getattr(parameter.annotation, "__metadata__", (None,))
            if isinstance(declared, OptionInfo):
                kinds = {parameter.annotation.__origin__, *get_args(parameter.annotation.__origin__)}
                for word, types in (("NUMBER", {int, float}), ("PATH", {Path})):
                    assert not kinds & types or option in _WORDS[word], (info.callback.__name__, option)


def test_options_of_a_single_table_are_shown_with_that_table_or_when_everything_is_asked_for(command):
    assert "--as-of-round" not in command("load", "--help").out
    assert "more options: ledgerframes load --help-all" in command("load", "--help").out
    assert "--as-of-round" in command("load", "holdings_summary", "--help").out
    assert "--synchronizer" not in command("load", "holdings_summary", "--help").out
    everything = command("load", "--help-all").out
    assert "--as-of-round" in everything
    assert "--ca-file" in everything


@pytest.mark.parametrize(("typed", "meant"), [("REWAD", "'rewards', 's"), ("mint-bur", "'mint_b"), ("synk", "'sync'")])
def test_a_command_or_a_table_that_is_mistyped_is_suggested(command, typed, meant):
    assert f"Did you mean {meant}" in command(typed, "lake").err
