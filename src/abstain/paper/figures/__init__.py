"""The paper's figures: what each shows, how that is drawn, and its caption. A `Figure` at the top level is found."""
