"""Why jobs end as they do: by the record of their end, and by what their output files say."""
