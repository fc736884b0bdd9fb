"""Alembic migrations of the service's store; `SqlStore` runs them when it is opened."""
