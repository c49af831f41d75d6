"""What pictures share: layout, scales, labels, colours, styles."""
