"""The UCB family: follow the expert with the least optimistic estimate, update its out-neighbours."""
