years = [2001, 2002, 2003]
wages = {2001: 10.5, 2002: 11.0, 2003: 11.2}
for year in years:
    if year = 2002:
        print("base", wages[year])
    print(year, wages[year])
