"""What every report is made of: pages, drawings, and the report of a sweep."""
