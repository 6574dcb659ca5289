int values(void) { return 12; }
