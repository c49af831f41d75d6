"""`plan`, `migrations` and the general options: data on standard output, nothing else there."""

from __future__ import annotations

import json

import pytest

import ledgerframes as lf


def test_plan_is_one_line(command, scan):
    ended = command("plan", "--scan-url", scan)

    assert (ended.code, ended.err) == (0, "")
    with lf.connect(scan_url=scan) as net:
        assert ended.out.split(",")[0] == str(lf.plan(net)).split(",")[0]
    assert ended.out.count("\n") == 1


def test_plan_as_json_is_one_document(command, scan):
    ended = command("plan", "--json", "--scan-url", scan, "--end", "2025-03-03T09:05")

    plan = json.loads(ended.out)
    assert set(plan) == {"range", "rows", "requests", "sync_requests", "megabytes", "minutes", "begins_late"}
    assert 0 < plan["rows"] < 300


def test_migrations_as_json_say_what_the_function_says(command, scan):
    ended = command("migrations", "--json", "--scan-url", scan)

    assert (ended.code, ended.err) == (0, "")
    with lf.connect(scan_url=scan) as net:
        wanted = lf.migrations(net)
    found = json.loads(ended.out)
    assert [row["migration_id"] for row in found] == wanted.migration_id.tolist() == [0, 1, 2]
    for column in ("first_record_time", "last_record_time"):
        assert [row[column] for row in found] == wanted[column].dt.strftime("%Y-%m-%dT%H:%M:%S.%fZ").tolist()


def test_migrations_as_text_have_a_line_each(command, scan):
    assert len(command("migrations", "--scan-url", scan).out.splitlines()) == 1 + 3


@pytest.mark.long
def test_verbose_logs_the_requests_on_standard_error_only(shell, scan):
    quiet = shell("migrations", "--json", "--scan-url", scan)
    loud = shell("--verbose", "migrations", "--json", "--scan-url", scan)

    assert loud.out == quiet.out
    assert "ledgerframes.transport:POST /v2/updates -> 200" in loud.err
    assert {line.split(":")[1].split(".")[0] for line in loud.err.splitlines()} == {"ledgerframes"}


def test_version_is_the_package_s(command):
    assert command("--version").out == f"ledgerframes {lf.__version__}\n"


def test_without_a_command_there_is_help(command):
    said = command()

    for name in ("load", "plan", "migrations", "sandbox", "demo"):
        assert name in said.out + said.err
