"""The declarations of all tables: columns with kind, meaning, unit and source."""
