"""Thousands of made-up requests against the sandbox, by its own OpenAPI document: `make fuzz`."""
