"""Frames in, frames out: what analysts ask of a history, worked out from its tables alone."""
