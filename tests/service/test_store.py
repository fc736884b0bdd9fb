"""The store: what is committed is there, and nothing else; faults are clear errors."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from abstain.checks import check_store
from abstain.errors import InputError
from abstain.service.store import Changes, EventRecord, Fenced, GateRecord, RowRefused, SqlStore, StoreError, open_store
from abstain.service.tables import METADATA


@pytest.fixture
def store(tmp_path):
    store = SqlStore(f"sqlite:///{tmp_path / 'gates.db'}", patience=0.2)
    yield store
    store.close()


def with_gate(store):
    gate = GateRecord("g", "{}", "live", 1.0)
    store.commit([Changes(gate, created=True)])
    return gate


def events_of(gate, n):
    first = gate.next_seq
    gate.next_seq += n
    return [EventRecord("g", seq, "mode", None, 1.0, "1", "{}") for seq in range(first, gate.next_seq)]


def test_sqlite_obeys_the_rules_of_stores(store):
    check_store(store)


def test_a_store_that_loses_an_event_fails_the_checks(store):
    class Forgetful(SqlStore):
        def __init__(self):
            vars(self).update(vars(store))

        def events(self, gate, **options):
            return super().events(gate, **options)[1:]

    with pytest.raises(AssertionError, match="read back exactly"):
        check_store(Forgetful())


def test_a_gate_that_was_made_meanwhile_is_fenced_and_a_row_that_is_there_is_refused(store):
    gate = with_gate(store)
    with pytest.raises(Fenced, match="'g'"):
        store.commit([Changes(GateRecord("g", "{}", "live", 2.0), created=True)])
    store.commit([Changes(gate, events=events_of(gate, 1))])
    gate.next_seq += 1
    with pytest.raises(RowRefused, match="UNIQUE"):
        store.commit([Changes(gate, events=[EventRecord("g", 1, "mode", None, 1.0, "1", "{}")])])
    assert [one.seq for one in store.events("g")] == [1]


def test_migrations_and_tables_say_the_same(store):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


@pytest.mark.skipif(os.name != "posix", reason="other systems have no modes")
def test_others_cannot_read_a_new_store_and_a_mode_that_was_set_stays(store, tmp_path):
    with_gate(store)
    made = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert {"gates.db", "gates.db-wal"} <= made.keys()
    assert set(made.values()) == {0o600}
    store.path.chmod(0o640)
    SqlStore(f"sqlite:///{store.path}").close()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o640


def test_the_tables_of_another_process_are_read_and_kept(tmp_path):
    url = f"sqlite:///{tmp_path / 'gates.db'}"
    first = open_store(url)
    gate = with_gate(first)
    first.close()
    first.close()
    again = open_store(url)
    assert again.gates() == [gate]
    again.close()


def test_full_durability_is_the_default_and_fast_is_said(tmp_path):
    for fast, level in ((False, 2), (True, 1)):
        store = open_store(f"sqlite:///{tmp_path / 'gates.db'}", fast=fast)
        with store.engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        store.close()


@pytest.mark.parametrize("url", ["gates.db", "mysql://x/y", "sqlite://", "sqlite:///:memory:", ""])
def test_other_urls_are_refused(url):
    with pytest.raises(InputError, match="store: expected"):
        open_store(url)


def test_a_folder_that_does_not_exist_is_a_clear_error(tmp_path):
    with pytest.raises(StoreError, match="folder that exists"):
        open_store(f"sqlite:///{tmp_path / 'none' / 'gates.db'}")


def test_a_file_that_is_no_database_is_a_clear_error(tmp_path):
    path = tmp_path / "gates.db"
    path.write_text("this is not a database, but long enough to look like a file of one" * 50)
    with pytest.raises(StoreError, match="cannot be opened"):
        open_store(f"sqlite:///{path}")


@pytest.mark.long
def test_a_second_server_on_the_same_file_is_refused(store):
    store.lock()
    code = (
        "import sys; from abstain.service.store import *\n"
        "store = open_store(sys.argv[1])\n"
        "try: store.lock()\n"
        "except StoreError as error: print(error)\n"
        "print(len(store.gates()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{store.path}"], capture_output=True, text=True, check=True
    )
    assert "another server uses" in done.stdout
    assert done.stdout.endswith("0\n")  # reading is allowed
    store.close()
    done = subprocess.run(
        [sys.executable, "-c", code, f"sqlite:///{store.path}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"


def test_a_locked_file_is_an_error_and_nothing_is_written(store):
    gate = with_gate(store)
    other = sqlite3.connect(store.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        store.commit([Changes(gate, events=events_of(gate, 2))])
    other.rollback()
    other.close()
    assert store.events("g") == []
    store.commit([Changes(gate, events=events_of(GateRecord("g", "{}", "live", 1.0), 2))])
    assert len(store.events("g")) == 2


def test_a_full_disk_is_an_error_and_nothing_is_written(store):
    gate = with_gate(store)
    store.commit([Changes(gate, events=events_of(gate, 3))])
    with store.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    store.engine.dispose()
    from sqlalchemy import event

    def fill(connection, _):
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(store.engine, "connect", fill)
    before = GateRecord(*(getattr(gate, name) for name in GateRecord.__slots__))
    with pytest.raises(StoreError, match="full"):
        store.commit([Changes(gate, events=events_of(gate, 2000))])
    assert len(store.events("g")) == 3
    assert store.gate("g") == before
    event.remove(store.engine, "connect", fill)
    store.engine.dispose()
    store.commit([Changes(before, events=events_of(before, 1))])
    assert len(store.events("g")) == 4


def test_a_read_only_file_is_an_error_and_can_still_be_read(store):
    gate = with_gate(store)
    store.engine.dispose()
    from sqlalchemy import event

    def protect(connection, _):
        connection.execute("PRAGMA query_only=1")

    event.listen(store.engine, "connect", protect)
    with pytest.raises(StoreError, match="readonly"):
        store.commit([Changes(gate, events=events_of(gate, 1))])
    assert [one.name for one in store.gates()] == ["g"]
    assert store.events("g") == []


def test_a_backup_of_a_store_in_use_has_everything(store, tmp_path):
    store.lock()
    gate = with_gate(store)
    store.commit([Changes(gate, events=events_of(gate, 5))])
    copy = tmp_path / "copy.db"
    store.backup(copy)
    other = open_store(f"sqlite:///{copy}")
    assert other.gates() == [gate]
    assert other.events("g") == store.events("g")
    other.close()
    with pytest.raises(InputError, match="new file"):
        store.backup(copy)
    with pytest.raises(StoreError, match="cannot be written"):
        store.backup(Path(tmp_path / "none" / "copy.db"))
