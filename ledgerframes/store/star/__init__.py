"""The star schema that a store exports for BI programs."""
