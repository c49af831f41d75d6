"""Decides after each answer what to request next; knows no HTTP, so that every case can be tested without a server."""
