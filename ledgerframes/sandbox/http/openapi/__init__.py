"""The OpenAPI document of what the sandbox serves, written as data: shapes, then operations, an interface a file."""
