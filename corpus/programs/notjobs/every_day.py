import time

import schedule


def report():
    print("sending the report")


def clean():
    print("removing old files")


schedule.every().day.at("06:30").do(report)
schedule.every(4).hours.do(clean)

while True:
    schedule.run_pending()
    time.sleep(30)
