"""Figures as ratios, each against a named baseline in the same run; `python -m tests.benchmarks` prints them."""
