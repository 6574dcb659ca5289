"""Acting through HTCondor: answers in the ads of held and idle jobs, for the site's own policy."""
