"""Alembic's environment: the store hands over its connection."""

from alembic import context

from abstain.service.tables import METADATA

if hasattr(context, "config"):  # Alembic runs this file; others only import it
    context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
    with context.begin_transaction():
        context.run_migrations()
