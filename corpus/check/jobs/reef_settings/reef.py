import configparser
settings = configparser.ConfigParser()
settings.read("reef.ini")
print(settings["model"]["depth"])
