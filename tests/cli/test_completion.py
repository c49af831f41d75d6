"""What a shell completes, as bash, zsh and fish ask for it, and that it needs little for that."""

import subprocess

import pytest

from ledgerframes.apps.html_report.sections import SECTIONS
from ledgerframes.cli import completion
from ledgerframes.store.derive.tables import DERIVABLE


@pytest.fixture
def completed(command):
    """The words that complete a line, in one of the shells."""

    def ask(typed, shell="bash"):
        words = {
            "bash": {"COMP_WORDS": f"ledgerframes {typed}", "COMP_CWORD": str(len(typed.split(" ")))},
            "zsh": {"_TYPER_COMPLETE_ARGS": f"ledgerframes {typed}"},
            "fish": {"_TYPER_COMPLETE_ARGS": f"ledgerframes {typed}", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell]
        ended = command(**words, _LEDGERFRAMES_COMPLETE=f"complete_{shell}")
        assert ended.err == ""
        return ended.out.split()

    return ask


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("pro", ["profile"]),
        ("plot rew", ["rewards"]),
        ("load holdings", ["holdings_summary"]),
        ("load events --columns event_id,cho", ["event_id,choice"]),
        ("derive lake rewards,min", ["rewards,mint_burn"]),
        ("rewards lake --by b", ["beneficiary"]),
        ("export lake out --for ", ["bi"]),
        ("report lake --sections bu", ["burn"]),  # codespell:ignore bu
        ("sync lake --tables licenses,inst", ["licenses,instruments"]),
        ("compute vote_", ["vote_casts"]),
        ("profile show o", ["old"]),
        ("report ", ["home/", "other/", "there/"]),
        ("report there/", ["there/lake"]),
    ],
)
def test_a_shell_completes_commands_tables_charts_columns_words_profiles_and_lakes(completed, tmp_path, typed, words):
    (tmp_path / "there" / "lake" / "updates" / "_delta_log").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    profiles = tmp_path / "home" / ".config" / "ledgerframes" / "config.toml"
    profiles.parent.mkdir(parents=True)
    profiles.write_text('[profiles.old]\nscan_url = "https://old.example.com/api/scan"\n')

    assert completed(typed) == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_asks_in_its_own_way(completed, command, shell):
    assert any("licenses" in word for word in completed("load lic", shell))
    assert f"_LEDGERFRAMES_COMPLETE=complete_{shell}" in command(_LEDGERFRAMES_COMPLETE=f"source_{shell}").out


def test_completion_imports_nothing_that_takes_its_time(program, surroundings, tmp_path):
    code = """import sys
from ledgerframes.cli import main
try:
    main()
finally:
    print(sorted({"pandas", "pyarrow", "duckdb", "matplotlib", "httpx", "deltalake"} & {*sys.modules}), file=sys.stderr)
"""
    asked = {"_LEDGERFRAMES_COMPLETE": "complete_bash", "COMP_WORDS": "ledgerframes load events --columns ev",
             "COMP_CWORD": "4"}  # fmt: skip
    done = subprocess.run(
        [program[0], "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path,
        env={**surroundings, **asked},
    )  # fmt: skip
    assert done.stdout.split()
    assert done.stderr == "[]\n"
    assert (tuple(SECTIONS), DERIVABLE) == (completion.SECTIONS, completion.COMPUTED), "what it names without them"
