"""What every table is made of, declared once: columns with kind, meaning, unit and where they come from."""
