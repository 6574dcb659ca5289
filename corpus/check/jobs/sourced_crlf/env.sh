export DATA=data
