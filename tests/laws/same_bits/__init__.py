"""The same bits from every process, whatever its threads and workers."""
