-- Up Migration
-- Integrity remembers which entities there are. When some are removed, as with a person who is forgotten, it has to ask again.
create table integrity.index_changes (
  is_only boolean primary key default true check (is_only),
  change bigint not null
);
insert into integrity.index_changes (change) values (0);

comment on table integrity.index_changes is 'How often entities were removed from integrity.entities.';
