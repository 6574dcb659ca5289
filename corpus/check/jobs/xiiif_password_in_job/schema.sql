create table if not exists shelfmark (
    mark    text primary key,
    century integer not null,
    folios  integer
);
truncate shelfmark;
