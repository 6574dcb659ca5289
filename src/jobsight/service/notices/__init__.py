"""Job notices over Kafka: taken as a member of a group, read, and their jobs asked about."""
