"""Acting through HTCondor: answers in the ads of held jobs, for the site's own policy."""
