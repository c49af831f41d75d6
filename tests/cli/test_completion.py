"""What a shell completes, as bash asks for it, and that it needs little for that."""

import subprocess

import pytest

from ledgerframes.apps.html_report.sections import SECTIONS
from ledgerframes.cli import completion
from ledgerframes.store.derive.tables import DERIVABLE


@pytest.fixture
def completed(program, surroundings, tmp_path):
    """The words that complete what was typed."""

    def ask(*typed):
        asked = {
            "_LEDGERFRAMES_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["ledgerframes", *typed]),
            "COMP_CWORD": str(len(typed)),
        }
        code = "from ledgerframes.cli import main; main()"
        done = subprocess.run(
            [program[0], "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path,
            env={**surroundings, **asked},
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.split()

    return ask


@pytest.mark.long(quick=3)
@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (("plot", "rew"), ["rewards"]),
        (("load", "holdings"), ["holdings_summary"]),
        (("load", "events", "--columns", "event_id,cho"), ["event_id,choice"]),
        (("derive", "lake", "rewards,min"), ["rewards,mint_burn"]),
        (("rewards", "lake", "--by", "b"), ["beneficiary"]),
        (("export", "lake", "out", "--for", ""), ["bi"]),
        (("plot", "burn", "lake", "--theme", "d"), ["dark"]),
        (("report", "lake", "--sections", "bu"), ["burn"]),  # codespell:ignore bu
        (("sync", "lake", "--failover", "n"), ["network"]),
        (("sync", "lake", "--tables", "licenses,inst"), ["licenses,instruments"]),
        (("compute", "vote_"), ["vote_casts"]),
    ],
    ids=" ".join,
)
def test_a_shell_completes_tables_charts_columns_and_the_words_of_options(completed, typed, words):
    assert completed(*typed) == words


def test_lakes_come_before_folders_on_the_way_to_them(completed, tmp_path):
    (tmp_path / "there" / "lake" / "updates" / "_delta_log").mkdir(parents=True)
    (tmp_path / "other").mkdir()

    assert completed("report", "") == ["other/", "there/"]
    assert completed("report", "there/") == ["there/lake"]


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


def test_the_names_that_are_completed_without_importing_them_are_those_that_there_are():
    assert tuple(SECTIONS) == completion.SECTIONS
    assert completion.COMPUTED == DERIVABLE
