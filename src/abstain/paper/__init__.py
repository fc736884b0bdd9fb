"""The paper's experiments and those beyond it: studies (TOML), claims and figures."""
