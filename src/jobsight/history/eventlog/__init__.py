"""Reading one event log: files, order, records, texts, times, columns."""
