"""The whole sync under simulation: many histories per second in one process, each from one seed; see the README."""
