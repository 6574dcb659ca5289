GAUGE_FILE=gauge/cuxhaven.csv
STATION=cuxhaven
