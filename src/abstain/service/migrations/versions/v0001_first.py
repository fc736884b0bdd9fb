"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "gates",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("next_seq", sa.BigInteger, nullable=False),
        sa.Column("mismatches", sa.Integer, nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("created", sa.Float, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("gate", sa.String(64), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("case", sa.String(200)),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "cases",
        sa.Column("gate", sa.String(64), primary_key=True),
        sa.Column("case", sa.String(200), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("action", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("reply", sa.Text, nullable=False),
        sa.Column("handle", sa.Text),
        sa.Column("review_price", sa.Float, nullable=False),
        sa.Column("label", sa.Text),
        sa.Column("label_source", sa.String(16)),
        sa.Column("label_at", sa.Float),
        sa.Column("correction", sa.Text),
        sa.Column("price", sa.Float),
    )
    op.create_index("cases_by_state", "cases", ["gate", "state", "action", "seq"])
    op.create_index("cases_by_time", "cases", ["gate", "at"])
    op.create_table(
        "held",
        sa.Column("gate", sa.String(64), primary_key=True),
        sa.Column("case", sa.String(200), primary_key=True),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("source", sa.String(16)),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("deadline", sa.Float, nullable=False),
    )
    op.create_index("held_by_deadline", "held", ["gate", "deadline"])
    op.create_table(
        "snapshots",
        sa.Column("gate", sa.String(64), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("mode", sa.String(16), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("file", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "replicas",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("address", sa.Text),
        sa.Column("lease", sa.Float, nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("hash", sa.String(128), nullable=False),
        sa.Column("gate", sa.String(64), nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created", sa.Float, nullable=False),
        sa.Column("revoked", sa.Float),
    )
