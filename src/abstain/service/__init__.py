"""Gates behind HTTP: `abstain serve`. A journal keeps every decision and label, so that a restart loses nothing."""
