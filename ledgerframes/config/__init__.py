"""Profiles: named settings in the user's own configuration, with tokens that are fetched and never stored."""
