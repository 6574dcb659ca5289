export PROJECT=ocean
