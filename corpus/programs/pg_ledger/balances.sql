create temporary table posting as
  select n as id, n % 900 as account, (n * 7919 % 20011)::bigint - 10000 as cents, md5(n::text) as memo
  from generate_series(1, 220000) n;
copy posting to stdout with (format csv);
