"""HTCondor's event logs, from files to batches of the event table; `history.events` drives it.

Files: `discovery` finds and `logfiles` opens them, `packed` unpacks, `segments` puts the parts of a
log in order by their `headers`, `generations` names them. Text: `chunks` cuts it where records end,
`scanner` finds the records and `record` reads one, by the vector steps of `blocks`; `classads` are
the ads of 028. XML and JSON: `structured`. `times` dates the records, `columns` makes batches,
`terms` has the table's columns.
"""
