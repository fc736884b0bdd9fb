"""What learners on logs are compared with, by name."""

TUNED, OWN, ALL, HINDSIGHT = "tuned once", "re-tuned, own labels", "re-tuned, all labels", "best afterwards"
ALTERNATIVES = (TUNED, OWN, ALL, HINDSIGHT)
