"""UCB-ABS: what was learnt in each region of the inputs, a region being the pattern of which rules abstain."""
