"""Alembic's environment: the store hands over its connection."""

from alembic import context

from abstain.service.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
