"""Measuring the workbench beside the others: `make bench`. What it means is told in docs/performance.md."""
