-- Up Migration
alter table erasure.erasures drop constraint erasures_mode_check;
alter table erasure.erasures
  add constraint erasures_mode_check check (mode in ('erase', 'pseudonymise', 'organisation'));

comment on table erasure.erasures is 'Who is to be forgotten (POST /v1/erasures), or which whole organisation (weir orgs delete), and what became of it.';
comment on column erasure.persons.name_sha256 is 'Of an organisation that is deleted as a whole, that of its own id: then every record of it is refused.';
