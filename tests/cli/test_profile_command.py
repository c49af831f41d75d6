"""Profiles are added, shown and taken out whole, without a token."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.config.profile_writing import add_profile
from ledgerframes.config.profiles import profiles_of
from ledgerframes.errors import ConfigurationError

SCAN = "https://scan.example.com/api/scan"
COMMENTED = """# who looks after these: the reporting team
[profiles.old]  # the first one
scan_url = "https://old.example.com/api/scan"
rate = 2  # they asked for it

[profiles.test]
ledger_url = "https://ledger.example.com"
"""


@pytest.fixture
def file(tmp_path):
    """Where the user's config.toml is."""
    return tmp_path / "home" / ".config" / "ledgerframes" / "config.toml"


@pytest.fixture
def written(file):
    """Writes that file."""

    def write(text):
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_a_profile_that_was_added_is_listed_shown_connected_and_removed_and_the_users_alone(command, file, monkeypatch):
    added = command("profile", "add", "main", "--scan-url", SCAN, "--token-env", "MAIN_TOKEN", "--set", "parallel=2")

    assert added.code == 0
    assert command("profile", "list").out == f"main\t{SCAN}\n"
    assert command("profile", "show", "main").out.splitlines() == [
        f'scan_url = "{SCAN}"', 'token_env = "MAIN_TOKEN"', "parallel = 2"
    ]  # fmt: skip
    for name in ("LEDGERFRAMES_TOKEN", "LEDGERFRAMES_SCAN_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("MAIN_TOKEN", "abc")
    settings = lf.connect(profile="main").settings
    assert (settings.scan_url, settings.parallel) == ((SCAN,), 2)
    assert settings.token("ledger").reveal() == "abc"
    if os.name != "nt":  # rights are another thing there
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert command("profile", "remove", "main").code == 0
    listed = command("profile", "list")
    assert (listed.code, listed.out) == (0, "")
    assert listed.err == f"there are no profiles in {file}; ledgerframes profile add NAME --scan-url URL adds one\n"
    Path("kept").write_text("def")  # a path is as the shell that typed it takes it
    assert command("profile", "add", "file", "--scan-url", SCAN, "--token-file", "kept").code == 0
    assert lf.connect(profile="file").settings.token("ledger").reveal() == "def"


SHAPES = {
    "a table between others": "[profiles.a]\nrate = 1\n\n[profiles.x]\nrate = 2\n\n# of c\n[profiles.c]\nrate = 3\n",
    "a table below it": "[profiles.x]\n[profiles.x.token_oauth]\nissuer = 'https://i'\n[profiles.c]\nrate = 3\n",
    "a quoted name": '[profiles."x"]\nscan_url = [\n  "https://a",\n]\n\n[profiles.c]\nrate = 3\n',
    "no such table": COMMENTED,
    "blanks": "  [ profiles . x ]  # here\r\nrate = 2\r\n[profiles.c]\r\nrate = 3\r\n",
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_a_profile_is_replaced_and_removed_however_it_was_written_and_others_stay_with_their_comments(
    command, written, text
):
    file = written(text)
    others = {name: own for name, own in profiles_of(text, file).items() if name != "x"}

    assert command("profile", "add", "x", "--scan-url", SCAN, "--replace").code == 0
    added = file.read_text(encoding="utf-8")
    assert profiles_of(added, file) == {**others, "x": {"scan_url": SCAN}}
    assert command("profile", "remove", "x").code == 0
    removed = file.read_text(encoding="utf-8")
    assert profiles_of(removed, file) == others
    assert "# of c" in removed or "# of c" not in text
    assert removed.rstrip() == text.rstrip() or text != COMMENTED


INLINE, MEMBER, DOTTED = "profiles = {x = {rate = 2}}\n", "[profiles]\nx = {rate = 2}\n", "profiles.x.rate = 2\n"
#: A file, what is typed after `profile`, and what is said.
REFUSED = {
    "a name that is a path": (COMMENTED, f"add ../x --scan-url {SCAN}", "letters, digits"),
    "nothing": (COMMENTED, "add x", "at least one address"),
    "user info": (COMMENTED, "add x --scan-url https://user:sesame@a", "user info"),
    "the token itself": (COMMENTED, "add x --token-env eyJhb.sesame.sig", "never the token"),
    "a token as a setting": (COMMENTED, "add x --set token=sesame", "not a known key"),
    "credentials as one": (COMMENTED, "add x --set token_oauth=sesame", "not a known key"),
    "twice": (COMMENTED, "add x --rate 1 --set rate=2", "given twice"),
    "an open quote": (COMMENTED, f"add x --token-command 'open --scan-url {SCAN}", "words"),
    "clear text": (COMMENTED, "add x --ledger-url http://a.example --token-env T", "unencrypted"),
    "a name that is taken": (COMMENTED, f"add old --scan-url {SCAN}", "--replace"),
    "nobody": (COMMENTED, "remove nobody", "there are: old, test"),
    **{f"{words.split()[0]} by hand, {number}": (text, words, "by hand")
       for words in ("remove x", f"add x --scan-url {SCAN} --replace")
       for number, text in enumerate((INLINE, MEMBER, DOTTED))},
    **{f"no configuration, {number}": (text, f"add main --scan-url {SCAN}", "config.toml")
       for number, text in enumerate(("[profiles.a\n", "profiles = 7\n", "[profiles]\na = 1\n"))},
}  # fmt: skip


@pytest.mark.parametrize(("text", "words", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_and_the_file_stays_as_it_is(command, written, text, words, said):
    file = written(text)

    ended = command("profile", *words.split())

    assert ended.code == 2
    assert said in ended.err
    assert "sesame" not in ended.err + ended.out
    assert file.read_text(encoding="utf-8") == text


def test_many_at_once_lose_none(tmp_path):
    with ThreadPoolExecutor(12) as pool:
        added = [
            pool.submit(add_profile, f"p{number}", {"scan_url": SCAN}, folder=tmp_path, environ={})
            for number in range(12)
        ]
    assert [one.exception() for one in added] == [None] * 12

    path = tmp_path / "config.toml"
    assert len(profiles_of(path.read_text(encoding="utf-8"), path)) == 12
    assert {one.name for one in tmp_path.iterdir()} <= {"config.toml", ".config.lock"}


def test_a_link_stays_a_link_and_what_cannot_be_written_is_an_error(written, tmp_path):
    commented, elsewhere = written(COMMENTED), tmp_path / "dotfiles.toml"
    commented.rename(elsewhere)
    commented.symlink_to(elsewhere)

    add_profile("main", {"scan_url": SCAN}, folder=commented.parent, environ={})

    assert commented.is_symlink()
    assert set(profiles_of(elsewhere.read_text(encoding="utf-8"), elsewhere)) == {"old", "test", "main"}
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        add_profile("main", {"scan_url": SCAN}, folder=elsewhere / "below", environ={})


def test_client_credentials_are_set_member_by_member_and_of_a_command_only_the_program_is_shown(command):
    members = ("issuer=https://idp.example", "client_id=analyst", "secret_env=DESK_SECRET", "audience=desk")
    given = [part for member in members for part in ("--set", f"token_oauth.{member}")]
    assert command("profile", "add", "desk", "--ledger-url", "https://p.example", *given).code == 0
    command("profile", "add", "main", "--scan-url", SCAN, "--token-command", "vault read -secret=sesame kv")

    assert json.loads(command("profile", "show", "desk", "--json").out)["token_oauth"] == dict(
        member.split("=", 1) for member in members
    )
    shown = command("profile", "show", "main", "--json").out
    assert '"token_command": "vault \\u2026"' in shown
    assert "sesame" not in shown


def test_what_somebody_wrote_into_the_file_by_hand_is_not_shown_as_it_may_be_a_secret(command, written):
    written(
        "[profiles.desk]\n"
        'scan_url = ["https://me:sesame@scan.example", "https://scan.example/api/scan"]\n'
        'token = "sesame"\n'
        'token_oauth = {issuer = "https://idp.example", client_secret = "sesame"}\n'
    )

    shown = command("profile", "show", "desk").out
    listed = command("profile", "list").out

    assert "sesame" not in shown + listed + command("profile", "show", "desk", "--json").out
    assert 'token = "…"' in shown
    assert '{"issuer": "https://idp.example", "client_secret": "…"}' in shown
    assert listed == "desk\thttps://…@scan.example\thttps://scan.example/api/scan\n"
