-- Up Migration
alter table erasure.erasures add column looked_again_at timestamptz(3);
create index erasures_to_look_at on erasure.erasures (ended_at) where looked_again_at is null;

comment on column erasure.erasures.looked_again_at is 'When everything was read once more, a day or two after the end, and nothing had come back.';
