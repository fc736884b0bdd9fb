"""The tables of a store. Alembic's `migrations` make them, and `SqlStore` runs these; a test checks that both agree."""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

GATES = Table(
    "gates",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("settings", Text, nullable=False),  # JSON
    Column("mode", String(16), nullable=False),
    Column("state", Text, nullable=False),  # "running", or "stopped: ..."
    Column("next_seq", BigInteger, nullable=False),
    Column("mismatches", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),  # raised when another replica takes the gate
    Column("owner", String(64)),  # the id of that replica
    Column("created", Float, nullable=False),
)
EVENTS = Table(
    "events",
    METADATA,
    Column("gate", String(64), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("case", String(200)),
    Column("at", Float, nullable=False),
    Column("version", String(64), nullable=False),
    Column("body", Text, nullable=False),  # JSON
)
CASES = Table(
    "cases",
    METADATA,
    Column("gate", String(64), primary_key=True),
    Column("case", String(200), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    Column("mode", String(16), nullable=False),
    Column("action", String(16), nullable=False),
    Column("state", String(16), nullable=False),  # "open", "closed" or "expired"
    Column("digest", String(64), nullable=False),  # of the payload
    Column("request", Text, nullable=False),  # JSON
    Column("reply", Text, nullable=False),  # JSON
    Column("handle", Text),  # the gate's own case as JSON; null if the gate cannot learn from it (any more)
    Column("review_price", Float, nullable=False),
    Column("label", Text),  # JSON
    Column("label_source", String(16)),
    Column("label_at", Float),
    Column("correction", Text),  # JSON
    Column("price", Float),
    Index("cases_by_state", "gate", "state", "action", "seq"),
    Index("cases_by_time", "gate", "at"),
)
HELD = Table(
    "held",
    METADATA,
    Column("gate", String(64), primary_key=True),
    Column("case", String(200), primary_key=True),
    Column("label", Text, nullable=False),  # JSON
    Column("source", String(16)),
    Column("at", Float, nullable=False),
    Column("deadline", Float, nullable=False),
    Index("held_by_deadline", "gate", "deadline"),
)
SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("gate", String(64), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("version", String(64), nullable=False),
    Column("at", Float, nullable=False),
    Column("mode", String(16), nullable=False),
    Column("settings", Text, nullable=False),  # JSON
    Column("file", LargeBinary, nullable=False),
)
REPLICAS = Table(
    "replicas",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("address", Text),  # the URL at which others reach it
    Column("lease", Float, nullable=False),  # until when it lives, in seconds since 1970, by the store's clock
)
KEYS = Table(
    "keys",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("hash", String(128), nullable=False),
    Column("gate", String(64), nullable=False),  # "*" is all of them
    Column("scopes", Text, nullable=False),  # separated by blanks
    Column("name", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("revoked", Float),
)
