create database if not exists weir on cluster `weir`;

create table if not exists weir.shops_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_id` UUID comment 'record identifier',
  `name` String comment 'what the shop is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shops_log/first', '{replica}')
order by (org_id, shop_id, version)
comment 'shops: every version of every record, once. A shop that takes part.';

create table if not exists weir.shops_log on cluster `weir` as weir.shops_log_local
engine = Distributed(`weir`, weir, shops_log_local, cityHash64(org_id))
comment 'shops: every version of every record, once. A shop that takes part.';

alter table weir.shops_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the shop is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_id` 'record identifier',
  comment column `name` 'what the shop is called',
  comment column `region` '2-letter country code',
  comment column `is_public` 'whether the shop is shown publicly',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shops: every version of every record, once. A shop that takes part.';

alter table weir.shops_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the shop is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_id` 'record identifier',
  comment column `name` 'what the shop is called',
  comment column `region` '2-letter country code',
  comment column `is_public` 'whether the shop is shown publicly',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shops: every version of every record, once. A shop that takes part.';

create table if not exists weir.shops_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_id` UUID comment 'record identifier',
  `name` String comment 'what the shop is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shops_current/first', '{replica}', version)
order by (org_id, shop_id)
comment 'shops: the newest version of each record, deleted ones too; the view shops shows those that are not';

create table if not exists weir.shops_current on cluster `weir` as weir.shops_current_local
engine = Distributed(`weir`, weir, shops_current_local, cityHash64(org_id))
comment 'shops: the newest version of each record, deleted ones too; the view shops shows those that are not';

alter table weir.shops_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the shop is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_id` 'record identifier',
  comment column `name` 'what the shop is called',
  comment column `region` '2-letter country code',
  comment column `is_public` 'whether the shop is shown publicly',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shops: the newest version of each record, deleted ones too; the view shops shows those that are not';

alter table weir.shops_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the shop is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_id` 'record identifier',
  comment column `name` 'what the shop is called',
  comment column `region` '2-letter country code',
  comment column `is_public` 'whether the shop is shown publicly',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shops: the newest version of each record, deleted ones too; the view shops shows those that are not';

create materialized view if not exists weir.shops_current_feed on cluster `weir` to weir.shops_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, `is_deleted`
from weir.shops_log_local
comment 'copies what is written to shops_log to shops_current';

alter table weir.shops_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, `is_deleted`
from weir.shops_log_local;

alter table weir.shops_current_feed on cluster `weir` modify comment 'copies what is written to shops_log to shops_current';

create table if not exists weir.categories_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `category_id` UUID comment 'record identifier',
  `name` String comment 'what the category is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/categories_log/first', '{replica}')
order by (org_id, category_id, version)
comment 'categories: every version of every record, once. A category that shops are put into.';

create table if not exists weir.categories_log on cluster `weir` as weir.categories_log_local
engine = Distributed(`weir`, weir, categories_log_local, cityHash64(org_id))
comment 'categories: every version of every record, once. A category that shops are put into.';

alter table weir.categories_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `category_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the category is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `category_id` 'record identifier',
  comment column `name` 'what the category is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'categories: every version of every record, once. A category that shops are put into.';

alter table weir.categories_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `category_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the category is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `category_id` 'record identifier',
  comment column `name` 'what the category is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'categories: every version of every record, once. A category that shops are put into.';

create table if not exists weir.categories_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `category_id` UUID comment 'record identifier',
  `name` String comment 'what the category is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/categories_current/first', '{replica}', version)
order by (org_id, category_id)
comment 'categories: the newest version of each record, deleted ones too; the view categories shows those that are not';

create table if not exists weir.categories_current on cluster `weir` as weir.categories_current_local
engine = Distributed(`weir`, weir, categories_current_local, cityHash64(org_id))
comment 'categories: the newest version of each record, deleted ones too; the view categories shows those that are not';

alter table weir.categories_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `category_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the category is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `category_id` 'record identifier',
  comment column `name` 'what the category is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'categories: the newest version of each record, deleted ones too; the view categories shows those that are not';

alter table weir.categories_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `category_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the category is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `category_id` 'record identifier',
  comment column `name` 'what the category is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'categories: the newest version of each record, deleted ones too; the view categories shows those that are not';

create materialized view if not exists weir.categories_current_feed on cluster `weir` to weir.categories_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `category_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.categories_log_local
comment 'copies what is written to categories_log to categories_current';

alter table weir.categories_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `category_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.categories_log_local;

alter table weir.categories_current_feed on cluster `weir` modify comment 'copies what is written to categories_log to categories_current';

create table if not exists weir.tags_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `tag_id` UUID comment 'record identifier',
  `name` String comment 'the tag itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/tags_log/first', '{replica}')
order by (org_id, tag_id, version)
comment 'tags: every version of every record, once. A tag that shops carry.';

create table if not exists weir.tags_log on cluster `weir` as weir.tags_log_local
engine = Distributed(`weir`, weir, tags_log_local, cityHash64(org_id))
comment 'tags: every version of every record, once. A tag that shops carry.';

alter table weir.tags_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `tag_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the tag itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `tag_id` 'record identifier',
  comment column `name` 'the tag itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'tags: every version of every record, once. A tag that shops carry.';

alter table weir.tags_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `tag_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the tag itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `tag_id` 'record identifier',
  comment column `name` 'the tag itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'tags: every version of every record, once. A tag that shops carry.';

create table if not exists weir.tags_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `tag_id` UUID comment 'record identifier',
  `name` String comment 'the tag itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/tags_current/first', '{replica}', version)
order by (org_id, tag_id)
comment 'tags: the newest version of each record, deleted ones too; the view tags shows those that are not';

create table if not exists weir.tags_current on cluster `weir` as weir.tags_current_local
engine = Distributed(`weir`, weir, tags_current_local, cityHash64(org_id))
comment 'tags: the newest version of each record, deleted ones too; the view tags shows those that are not';

alter table weir.tags_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `tag_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the tag itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `tag_id` 'record identifier',
  comment column `name` 'the tag itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'tags: the newest version of each record, deleted ones too; the view tags shows those that are not';

alter table weir.tags_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `tag_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the tag itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `tag_id` 'record identifier',
  comment column `name` 'the tag itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'tags: the newest version of each record, deleted ones too; the view tags shows those that are not';

create materialized view if not exists weir.tags_current_feed on cluster `weir` to weir.tags_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `tag_id`, `name`, `created`, `updated`, `is_deleted`
from weir.tags_log_local
comment 'copies what is written to tags_log to tags_current';

alter table weir.tags_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `tag_id`, `name`, `created`, `updated`, `is_deleted`
from weir.tags_log_local;

alter table weir.tags_current_feed on cluster `weir` modify comment 'copies what is written to tags_log to tags_current';

create table if not exists weir.keywords_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `keyword_id` UUID comment 'record identifier',
  `name` String comment 'the keyword itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/keywords_log/first', '{replica}')
order by (org_id, keyword_id, version)
comment 'keywords: every version of every record, once. A keyword that shops are found by.';

create table if not exists weir.keywords_log on cluster `weir` as weir.keywords_log_local
engine = Distributed(`weir`, weir, keywords_log_local, cityHash64(org_id))
comment 'keywords: every version of every record, once. A keyword that shops are found by.';

alter table weir.keywords_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `keyword_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the keyword itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `keyword_id` 'record identifier',
  comment column `name` 'the keyword itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'keywords: every version of every record, once. A keyword that shops are found by.';

alter table weir.keywords_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `keyword_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the keyword itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `keyword_id` 'record identifier',
  comment column `name` 'the keyword itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'keywords: every version of every record, once. A keyword that shops are found by.';

create table if not exists weir.keywords_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `keyword_id` UUID comment 'record identifier',
  `name` String comment 'the keyword itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/keywords_current/first', '{replica}', version)
order by (org_id, keyword_id)
comment 'keywords: the newest version of each record, deleted ones too; the view keywords shows those that are not';

create table if not exists weir.keywords_current on cluster `weir` as weir.keywords_current_local
engine = Distributed(`weir`, weir, keywords_current_local, cityHash64(org_id))
comment 'keywords: the newest version of each record, deleted ones too; the view keywords shows those that are not';

alter table weir.keywords_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `keyword_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the keyword itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `keyword_id` 'record identifier',
  comment column `name` 'the keyword itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'keywords: the newest version of each record, deleted ones too; the view keywords shows those that are not';

alter table weir.keywords_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `keyword_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'the keyword itself',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `keyword_id` 'record identifier',
  comment column `name` 'the keyword itself',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'keywords: the newest version of each record, deleted ones too; the view keywords shows those that are not';

create materialized view if not exists weir.keywords_current_feed on cluster `weir` to weir.keywords_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `keyword_id`, `name`, `created`, `updated`, `is_deleted`
from weir.keywords_log_local
comment 'copies what is written to keywords_log to keywords_current';

alter table weir.keywords_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `keyword_id`, `name`, `created`, `updated`, `is_deleted`
from weir.keywords_log_local;

alter table weir.keywords_current_feed on cluster `weir` modify comment 'copies what is written to keywords_log to keywords_current';

create table if not exists weir.institutes_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `institute_id` UUID comment 'record identifier',
  `name` String comment 'what the institute is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/institutes_log/first', '{replica}')
order by (org_id, institute_id, version)
comment 'institutes: every version of every record, once. An educational institute.';

create table if not exists weir.institutes_log on cluster `weir` as weir.institutes_log_local
engine = Distributed(`weir`, weir, institutes_log_local, cityHash64(org_id))
comment 'institutes: every version of every record, once. An educational institute.';

alter table weir.institutes_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `institute_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the institute is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `institute_id` 'record identifier',
  comment column `name` 'what the institute is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'institutes: every version of every record, once. An educational institute.';

alter table weir.institutes_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `institute_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the institute is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `institute_id` 'record identifier',
  comment column `name` 'what the institute is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'institutes: every version of every record, once. An educational institute.';

create table if not exists weir.institutes_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `institute_id` UUID comment 'record identifier',
  `name` String comment 'what the institute is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/institutes_current/first', '{replica}', version)
order by (org_id, institute_id)
comment 'institutes: the newest version of each record, deleted ones too; the view institutes shows those that are not';

create table if not exists weir.institutes_current on cluster `weir` as weir.institutes_current_local
engine = Distributed(`weir`, weir, institutes_current_local, cityHash64(org_id))
comment 'institutes: the newest version of each record, deleted ones too; the view institutes shows those that are not';

alter table weir.institutes_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `institute_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the institute is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `institute_id` 'record identifier',
  comment column `name` 'what the institute is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'institutes: the newest version of each record, deleted ones too; the view institutes shows those that are not';

alter table weir.institutes_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `institute_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the institute is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `institute_id` 'record identifier',
  comment column `name` 'what the institute is called',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'institutes: the newest version of each record, deleted ones too; the view institutes shows those that are not';

create materialized view if not exists weir.institutes_current_feed on cluster `weir` to weir.institutes_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `institute_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.institutes_log_local
comment 'copies what is written to institutes_log to institutes_current';

alter table weir.institutes_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `institute_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.institutes_log_local;

alter table weir.institutes_current_feed on cluster `weir` modify comment 'copies what is written to institutes_log to institutes_current';

create table if not exists weir.courses_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `course_id` UUID comment 'record identifier',
  `name` String comment 'what the course is called',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/courses_log/first', '{replica}')
order by (org_id, course_id, version)
comment 'courses: every version of every record, once. A course of study.';

create table if not exists weir.courses_log on cluster `weir` as weir.courses_log_local
engine = Distributed(`weir`, weir, courses_log_local, cityHash64(org_id))
comment 'courses: every version of every record, once. A course of study.';

alter table weir.courses_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `course_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the course is called',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `course_id` 'record identifier',
  comment column `name` 'what the course is called',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'courses: every version of every record, once. A course of study.';

alter table weir.courses_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `course_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the course is called',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `course_id` 'record identifier',
  comment column `name` 'what the course is called',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'courses: every version of every record, once. A course of study.';

create table if not exists weir.courses_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `course_id` UUID comment 'record identifier',
  `name` String comment 'what the course is called',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/courses_current/first', '{replica}', version)
order by (org_id, course_id)
comment 'courses: the newest version of each record, deleted ones too; the view courses shows those that are not';

create table if not exists weir.courses_current on cluster `weir` as weir.courses_current_local
engine = Distributed(`weir`, weir, courses_current_local, cityHash64(org_id))
comment 'courses: the newest version of each record, deleted ones too; the view courses shows those that are not';

alter table weir.courses_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `course_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the course is called',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `course_id` 'record identifier',
  comment column `name` 'what the course is called',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'courses: the newest version of each record, deleted ones too; the view courses shows those that are not';

alter table weir.courses_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `course_id` UUID comment 'record identifier',
  add column if not exists `name` String comment 'what the course is called',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `course_id` 'record identifier',
  comment column `name` 'what the course is called',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'courses: the newest version of each record, deleted ones too; the view courses shows those that are not';

create materialized view if not exists weir.courses_current_feed on cluster `weir` to weir.courses_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `course_id`, `name`, `created`, `updated`, `is_deleted`
from weir.courses_log_local
comment 'copies what is written to courses_log to courses_current';

alter table weir.courses_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `course_id`, `name`, `created`, `updated`, `is_deleted`
from weir.courses_log_local;

alter table weir.courses_current_feed on cluster `weir` modify comment 'copies what is written to courses_log to courses_current';

create table if not exists weir.customers_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `customer_id` UUID comment 'record identifier',
  `user_id` UUID comment 'user identifier',
  `region` LowCardinality(String) comment '2-letter country code',
  `birthdate` Nullable(Date32) comment 'date of birth',
  `institute_id` Nullable(UUID) comment 'educational institute',
  `course_id` Nullable(UUID) comment 'course',
  `gender` Nullable(String) comment 'as the organisation records it',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/customers_log/first', '{replica}')
order by (org_id, customer_id, version)
comment 'customers: every version of every record, once. A customer. A student is a customer: every student_id is a customer_id.';

create table if not exists weir.customers_log on cluster `weir` as weir.customers_log_local
engine = Distributed(`weir`, weir, customers_log_local, cityHash64(org_id))
comment 'customers: every version of every record, once. A customer. A student is a customer: every student_id is a customer_id.';

alter table weir.customers_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `customer_id` UUID comment 'record identifier',
  add column if not exists `user_id` UUID comment 'user identifier',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `birthdate` Nullable(Date32) comment 'date of birth',
  add column if not exists `institute_id` Nullable(UUID) comment 'educational institute',
  add column if not exists `course_id` Nullable(UUID) comment 'course',
  add column if not exists `gender` Nullable(String) comment 'as the organisation records it',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `customer_id` 'record identifier',
  comment column `user_id` 'user identifier',
  comment column `region` '2-letter country code',
  comment column `birthdate` 'date of birth',
  comment column `institute_id` 'educational institute',
  comment column `course_id` 'course',
  comment column `gender` 'as the organisation records it',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'customers: every version of every record, once. A customer. A student is a customer: every student_id is a customer_id.';

alter table weir.customers_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `customer_id` UUID comment 'record identifier',
  add column if not exists `user_id` UUID comment 'user identifier',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `birthdate` Nullable(Date32) comment 'date of birth',
  add column if not exists `institute_id` Nullable(UUID) comment 'educational institute',
  add column if not exists `course_id` Nullable(UUID) comment 'course',
  add column if not exists `gender` Nullable(String) comment 'as the organisation records it',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `customer_id` 'record identifier',
  comment column `user_id` 'user identifier',
  comment column `region` '2-letter country code',
  comment column `birthdate` 'date of birth',
  comment column `institute_id` 'educational institute',
  comment column `course_id` 'course',
  comment column `gender` 'as the organisation records it',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'customers: every version of every record, once. A customer. A student is a customer: every student_id is a customer_id.';

create table if not exists weir.customers_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `customer_id` UUID comment 'record identifier',
  `user_id` UUID comment 'user identifier',
  `region` LowCardinality(String) comment '2-letter country code',
  `birthdate` Nullable(Date32) comment 'date of birth',
  `institute_id` Nullable(UUID) comment 'educational institute',
  `course_id` Nullable(UUID) comment 'course',
  `gender` Nullable(String) comment 'as the organisation records it',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/customers_current/first', '{replica}', version)
order by (org_id, customer_id)
comment 'customers: the newest version of each record, deleted ones too; the view customers shows those that are not';

create table if not exists weir.customers_current on cluster `weir` as weir.customers_current_local
engine = Distributed(`weir`, weir, customers_current_local, cityHash64(org_id))
comment 'customers: the newest version of each record, deleted ones too; the view customers shows those that are not';

alter table weir.customers_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `customer_id` UUID comment 'record identifier',
  add column if not exists `user_id` UUID comment 'user identifier',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `birthdate` Nullable(Date32) comment 'date of birth',
  add column if not exists `institute_id` Nullable(UUID) comment 'educational institute',
  add column if not exists `course_id` Nullable(UUID) comment 'course',
  add column if not exists `gender` Nullable(String) comment 'as the organisation records it',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `customer_id` 'record identifier',
  comment column `user_id` 'user identifier',
  comment column `region` '2-letter country code',
  comment column `birthdate` 'date of birth',
  comment column `institute_id` 'educational institute',
  comment column `course_id` 'course',
  comment column `gender` 'as the organisation records it',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'customers: the newest version of each record, deleted ones too; the view customers shows those that are not';

alter table weir.customers_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `customer_id` UUID comment 'record identifier',
  add column if not exists `user_id` UUID comment 'user identifier',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `birthdate` Nullable(Date32) comment 'date of birth',
  add column if not exists `institute_id` Nullable(UUID) comment 'educational institute',
  add column if not exists `course_id` Nullable(UUID) comment 'course',
  add column if not exists `gender` Nullable(String) comment 'as the organisation records it',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `customer_id` 'record identifier',
  comment column `user_id` 'user identifier',
  comment column `region` '2-letter country code',
  comment column `birthdate` 'date of birth',
  comment column `institute_id` 'educational institute',
  comment column `course_id` 'course',
  comment column `gender` 'as the organisation records it',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'customers: the newest version of each record, deleted ones too; the view customers shows those that are not';

create materialized view if not exists weir.customers_current_feed on cluster `weir` to weir.customers_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, `is_deleted`
from weir.customers_log_local
comment 'copies what is written to customers_log to customers_current';

alter table weir.customers_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, `is_deleted`
from weir.customers_log_local;

alter table weir.customers_current_feed on cluster `weir` modify comment 'copies what is written to customers_log to customers_current';

create table if not exists weir.branches_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `branch_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the branch is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `latitude` Nullable(Float64) comment 'degrees north of the equator',
  `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/branches_log/first', '{replica}')
order by (org_id, branch_id, version)
comment 'branches: every version of every record, once. A place where a shop does business.';

create table if not exists weir.branches_log on cluster `weir` as weir.branches_log_local
engine = Distributed(`weir`, weir, branches_log_local, cityHash64(org_id))
comment 'branches: every version of every record, once. A place where a shop does business.';

alter table weir.branches_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `branch_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the branch is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `latitude` Nullable(Float64) comment 'degrees north of the equator',
  add column if not exists `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `branch_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the branch is called',
  comment column `region` '2-letter country code',
  comment column `latitude` 'degrees north of the equator',
  comment column `longitude` 'degrees east of Greenwich',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'branches: every version of every record, once. A place where a shop does business.';

alter table weir.branches_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `branch_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the branch is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `latitude` Nullable(Float64) comment 'degrees north of the equator',
  add column if not exists `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `branch_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the branch is called',
  comment column `region` '2-letter country code',
  comment column `latitude` 'degrees north of the equator',
  comment column `longitude` 'degrees east of Greenwich',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'branches: every version of every record, once. A place where a shop does business.';

create table if not exists weir.branches_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `branch_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the branch is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `latitude` Nullable(Float64) comment 'degrees north of the equator',
  `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/branches_current/first', '{replica}', version)
order by (org_id, branch_id)
comment 'branches: the newest version of each record, deleted ones too; the view branches shows those that are not';

create table if not exists weir.branches_current on cluster `weir` as weir.branches_current_local
engine = Distributed(`weir`, weir, branches_current_local, cityHash64(org_id))
comment 'branches: the newest version of each record, deleted ones too; the view branches shows those that are not';

alter table weir.branches_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `branch_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the branch is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `latitude` Nullable(Float64) comment 'degrees north of the equator',
  add column if not exists `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `branch_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the branch is called',
  comment column `region` '2-letter country code',
  comment column `latitude` 'degrees north of the equator',
  comment column `longitude` 'degrees east of Greenwich',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'branches: the newest version of each record, deleted ones too; the view branches shows those that are not';

alter table weir.branches_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `branch_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the branch is called',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `latitude` Nullable(Float64) comment 'degrees north of the equator',
  add column if not exists `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `branch_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the branch is called',
  comment column `region` '2-letter country code',
  comment column `latitude` 'degrees north of the equator',
  comment column `longitude` 'degrees east of Greenwich',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'branches: the newest version of each record, deleted ones too; the view branches shows those that are not';

create materialized view if not exists weir.branches_current_feed on cluster `weir` to weir.branches_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, `is_deleted`
from weir.branches_log_local
comment 'copies what is written to branches_log to branches_current';

alter table weir.branches_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, `is_deleted`
from weir.branches_log_local;

alter table weir.branches_current_feed on cluster `weir` modify comment 'copies what is written to branches_log to branches_current';

create table if not exists weir.offers_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `offer_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the offer is called',
  `type` String comment 'for example percentage or fixed',
  `value` Float64 comment 'how much it takes off, in the unit that type says',
  `region` LowCardinality(String) comment '2-letter country code',
  `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  `allowed_days` Nullable(String) comment 'comma-separated day names',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/offers_log/first', '{replica}')
order by (org_id, offer_id, version)
comment 'offers: every version of every record, once. An offer of a shop.';

create table if not exists weir.offers_log on cluster `weir` as weir.offers_log_local
engine = Distributed(`weir`, weir, offers_log_local, cityHash64(org_id))
comment 'offers: every version of every record, once. An offer of a shop.';

alter table weir.offers_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `offer_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the offer is called',
  add column if not exists `type` String comment 'for example percentage or fixed',
  add column if not exists `value` Float64 comment 'how much it takes off, in the unit that type says',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  add column if not exists `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  add column if not exists `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  add column if not exists `allowed_days` Nullable(String) comment 'comma-separated day names',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  add column if not exists `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `offer_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the offer is called',
  comment column `type` 'for example percentage or fixed',
  comment column `value` 'how much it takes off, in the unit that type says',
  comment column `region` '2-letter country code',
  comment column `allowed_from` 'start of validity',
  comment column `allowed_to` 'end of validity',
  comment column `allowed_branches` 'comma-separated branch ids',
  comment column `allowed_days` 'comma-separated day names',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `is_enabled` 'whether the offer is currently enabled',
  comment column `value_exact` 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'offers: every version of every record, once. An offer of a shop.';

alter table weir.offers_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `offer_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the offer is called',
  add column if not exists `type` String comment 'for example percentage or fixed',
  add column if not exists `value` Float64 comment 'how much it takes off, in the unit that type says',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  add column if not exists `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  add column if not exists `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  add column if not exists `allowed_days` Nullable(String) comment 'comma-separated day names',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  add column if not exists `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `offer_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the offer is called',
  comment column `type` 'for example percentage or fixed',
  comment column `value` 'how much it takes off, in the unit that type says',
  comment column `region` '2-letter country code',
  comment column `allowed_from` 'start of validity',
  comment column `allowed_to` 'end of validity',
  comment column `allowed_branches` 'comma-separated branch ids',
  comment column `allowed_days` 'comma-separated day names',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `is_enabled` 'whether the offer is currently enabled',
  comment column `value_exact` 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'offers: every version of every record, once. An offer of a shop.';

create table if not exists weir.offers_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `offer_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the offer is called',
  `type` String comment 'for example percentage or fixed',
  `value` Float64 comment 'how much it takes off, in the unit that type says',
  `region` LowCardinality(String) comment '2-letter country code',
  `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  `allowed_days` Nullable(String) comment 'comma-separated day names',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/offers_current/first', '{replica}', version)
order by (org_id, offer_id)
comment 'offers: the newest version of each record, deleted ones too; the view offers shows those that are not';

create table if not exists weir.offers_current on cluster `weir` as weir.offers_current_local
engine = Distributed(`weir`, weir, offers_current_local, cityHash64(org_id))
comment 'offers: the newest version of each record, deleted ones too; the view offers shows those that are not';

alter table weir.offers_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `offer_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the offer is called',
  add column if not exists `type` String comment 'for example percentage or fixed',
  add column if not exists `value` Float64 comment 'how much it takes off, in the unit that type says',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  add column if not exists `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  add column if not exists `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  add column if not exists `allowed_days` Nullable(String) comment 'comma-separated day names',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  add column if not exists `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `offer_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the offer is called',
  comment column `type` 'for example percentage or fixed',
  comment column `value` 'how much it takes off, in the unit that type says',
  comment column `region` '2-letter country code',
  comment column `allowed_from` 'start of validity',
  comment column `allowed_to` 'end of validity',
  comment column `allowed_branches` 'comma-separated branch ids',
  comment column `allowed_days` 'comma-separated day names',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `is_enabled` 'whether the offer is currently enabled',
  comment column `value_exact` 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'offers: the newest version of each record, deleted ones too; the view offers shows those that are not';

alter table weir.offers_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `offer_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `name` String comment 'what the offer is called',
  add column if not exists `type` String comment 'for example percentage or fixed',
  add column if not exists `value` Float64 comment 'how much it takes off, in the unit that type says',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  add column if not exists `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  add column if not exists `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  add column if not exists `allowed_days` Nullable(String) comment 'comma-separated day names',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  add column if not exists `value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`value`), 9) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `offer_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `name` 'what the offer is called',
  comment column `type` 'for example percentage or fixed',
  comment column `value` 'how much it takes off, in the unit that type says',
  comment column `region` '2-letter country code',
  comment column `allowed_from` 'start of validity',
  comment column `allowed_to` 'end of validity',
  comment column `allowed_branches` 'comma-separated branch ids',
  comment column `allowed_days` 'comma-separated day names',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `is_enabled` 'whether the offer is currently enabled',
  comment column `value_exact` 'value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'offers: the newest version of each record, deleted ones too; the view offers shows those that are not';

create materialized view if not exists weir.offers_current_feed on cluster `weir` to weir.offers_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, `is_deleted`, `is_enabled`
from weir.offers_log_local
comment 'copies what is written to offers_log to offers_current';

alter table weir.offers_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, `is_deleted`, `is_enabled`
from weir.offers_log_local;

alter table weir.offers_current_feed on cluster `weir` modify comment 'copies what is written to offers_log to offers_current';

create table if not exists weir.transactions_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `savings` Float64 comment 'how much less was paid',
  `amount` Float64 comment 'how much was paid',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  `discount_name` Nullable(String) comment 'what the discount is called',
  `discount_type` Nullable(String) comment 'for example percentage or fixed',
  `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/transactions_log/first', '{replica}')
order by (org_id, transaction_id, version)
comment 'transactions: every version of every record, once. A purchase in a shop.';

create table if not exists weir.transactions_log on cluster `weir` as weir.transactions_log_local
engine = Distributed(`weir`, weir, transactions_log_local, cityHash64(org_id))
comment 'transactions: every version of every record, once. A purchase in a shop.';

alter table weir.transactions_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `transaction_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `savings` Float64 comment 'how much less was paid',
  add column if not exists `amount` Float64 comment 'how much was paid',
  add column if not exists `student_id` Nullable(UUID) comment 'purchasing student',
  add column if not exists `offer_id` Nullable(UUID) comment 'offer used',
  add column if not exists `branch_id` Nullable(UUID) comment 'branch location',
  add column if not exists `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `discount_name` Nullable(String) comment 'what the discount is called',
  add column if not exists `discount_type` Nullable(String) comment 'for example percentage or fixed',
  add column if not exists `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  add column if not exists `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `transaction_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `region` '2-letter country code',
  comment column `savings` 'how much less was paid',
  comment column `amount` 'how much was paid',
  comment column `student_id` 'purchasing student',
  comment column `offer_id` 'offer used',
  comment column `branch_id` 'branch location',
  comment column `source` 'origin of the transaction, for example online or in-store',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `discount_name` 'what the discount is called',
  comment column `discount_type` 'for example percentage or fixed',
  comment column `discount_value` 'how much the discount takes off, in the unit that discount_type says',
  comment column `savings_exact` 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `amount_exact` 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `discount_value_exact` 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'transactions: every version of every record, once. A purchase in a shop.';

alter table weir.transactions_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `transaction_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `savings` Float64 comment 'how much less was paid',
  add column if not exists `amount` Float64 comment 'how much was paid',
  add column if not exists `student_id` Nullable(UUID) comment 'purchasing student',
  add column if not exists `offer_id` Nullable(UUID) comment 'offer used',
  add column if not exists `branch_id` Nullable(UUID) comment 'branch location',
  add column if not exists `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `discount_name` Nullable(String) comment 'what the discount is called',
  add column if not exists `discount_type` Nullable(String) comment 'for example percentage or fixed',
  add column if not exists `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  add column if not exists `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `transaction_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `region` '2-letter country code',
  comment column `savings` 'how much less was paid',
  comment column `amount` 'how much was paid',
  comment column `student_id` 'purchasing student',
  comment column `offer_id` 'offer used',
  comment column `branch_id` 'branch location',
  comment column `source` 'origin of the transaction, for example online or in-store',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `discount_name` 'what the discount is called',
  comment column `discount_type` 'for example percentage or fixed',
  comment column `discount_value` 'how much the discount takes off, in the unit that discount_type says',
  comment column `savings_exact` 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `amount_exact` 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `discount_value_exact` 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'transactions: every version of every record, once. A purchase in a shop.';

create table if not exists weir.transactions_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `savings` Float64 comment 'how much less was paid',
  `amount` Float64 comment 'how much was paid',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  `discount_name` Nullable(String) comment 'what the discount is called',
  `discount_type` Nullable(String) comment 'for example percentage or fixed',
  `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/transactions_current/first', '{replica}', version)
order by (org_id, transaction_id)
comment 'transactions: the newest version of each record, deleted ones too; the view transactions shows those that are not';

create table if not exists weir.transactions_current on cluster `weir` as weir.transactions_current_local
engine = Distributed(`weir`, weir, transactions_current_local, cityHash64(org_id))
comment 'transactions: the newest version of each record, deleted ones too; the view transactions shows those that are not';

alter table weir.transactions_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `transaction_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `savings` Float64 comment 'how much less was paid',
  add column if not exists `amount` Float64 comment 'how much was paid',
  add column if not exists `student_id` Nullable(UUID) comment 'purchasing student',
  add column if not exists `offer_id` Nullable(UUID) comment 'offer used',
  add column if not exists `branch_id` Nullable(UUID) comment 'branch location',
  add column if not exists `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `discount_name` Nullable(String) comment 'what the discount is called',
  add column if not exists `discount_type` Nullable(String) comment 'for example percentage or fixed',
  add column if not exists `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  add column if not exists `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `transaction_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `region` '2-letter country code',
  comment column `savings` 'how much less was paid',
  comment column `amount` 'how much was paid',
  comment column `student_id` 'purchasing student',
  comment column `offer_id` 'offer used',
  comment column `branch_id` 'branch location',
  comment column `source` 'origin of the transaction, for example online or in-store',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `discount_name` 'what the discount is called',
  comment column `discount_type` 'for example percentage or fixed',
  comment column `discount_value` 'how much the discount takes off, in the unit that discount_type says',
  comment column `savings_exact` 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `amount_exact` 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `discount_value_exact` 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'transactions: the newest version of each record, deleted ones too; the view transactions shows those that are not';

alter table weir.transactions_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `transaction_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `savings` Float64 comment 'how much less was paid',
  add column if not exists `amount` Float64 comment 'how much was paid',
  add column if not exists `student_id` Nullable(UUID) comment 'purchasing student',
  add column if not exists `offer_id` Nullable(UUID) comment 'offer used',
  add column if not exists `branch_id` Nullable(UUID) comment 'branch location',
  add column if not exists `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  add column if not exists `discount_name` Nullable(String) comment 'what the discount is called',
  add column if not exists `discount_type` Nullable(String) comment 'for example percentage or fixed',
  add column if not exists `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  add column if not exists `savings_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`savings`), 9) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `amount_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`amount`), 9) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  add column if not exists `discount_value_exact` Nullable(Decimal(38, 9)) materialized toDecimal128OrNull(toString(`discount_value`), 9) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `transaction_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `region` '2-letter country code',
  comment column `savings` 'how much less was paid',
  comment column `amount` 'how much was paid',
  comment column `student_id` 'purchasing student',
  comment column `offer_id` 'offer used',
  comment column `branch_id` 'branch location',
  comment column `source` 'origin of the transaction, for example online or in-store',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `discount_name` 'what the discount is called',
  comment column `discount_type` 'for example percentage or fixed',
  comment column `discount_value` 'how much the discount takes off, in the unit that discount_type says',
  comment column `savings_exact` 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `amount_exact` 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  comment column `discount_value_exact` 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on',
  modify comment 'transactions: the newest version of each record, deleted ones too; the view transactions shows those that are not';

create materialized view if not exists weir.transactions_current_feed on cluster `weir` to weir.transactions_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, `is_deleted`, `discount_name`, `discount_type`, `discount_value`
from weir.transactions_log_local
comment 'copies what is written to transactions_log to transactions_current';

alter table weir.transactions_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, `is_deleted`, `discount_name`, `discount_type`, `discount_value`
from weir.transactions_log_local;

alter table weir.transactions_current_feed on cluster `weir` modify comment 'copies what is written to transactions_log to transactions_current';

create table if not exists weir.shop_categories_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_category_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `category_id` UUID comment 'the id of one of the categories',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_categories_log/first', '{replica}')
order by (org_id, shop_category_id, version)
comment 'shop-categories: every version of every record, once. A shop in a category.';

create table if not exists weir.shop_categories_log on cluster `weir` as weir.shop_categories_log_local
engine = Distributed(`weir`, weir, shop_categories_log_local, cityHash64(org_id))
comment 'shop-categories: every version of every record, once. A shop in a category.';

alter table weir.shop_categories_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_category_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `category_id` UUID comment 'the id of one of the categories',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_category_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `category_id` 'the id of one of the categories',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-categories: every version of every record, once. A shop in a category.';

alter table weir.shop_categories_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_category_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `category_id` UUID comment 'the id of one of the categories',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_category_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `category_id` 'the id of one of the categories',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-categories: every version of every record, once. A shop in a category.';

create table if not exists weir.shop_categories_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_category_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `category_id` UUID comment 'the id of one of the categories',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_categories_current/first', '{replica}', version)
order by (org_id, shop_category_id)
comment 'shop-categories: the newest version of each record, deleted ones too; the view shop_categories shows those that are not';

create table if not exists weir.shop_categories_current on cluster `weir` as weir.shop_categories_current_local
engine = Distributed(`weir`, weir, shop_categories_current_local, cityHash64(org_id))
comment 'shop-categories: the newest version of each record, deleted ones too; the view shop_categories shows those that are not';

alter table weir.shop_categories_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_category_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `category_id` UUID comment 'the id of one of the categories',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_category_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `category_id` 'the id of one of the categories',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-categories: the newest version of each record, deleted ones too; the view shop_categories shows those that are not';

alter table weir.shop_categories_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_category_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `category_id` UUID comment 'the id of one of the categories',
  add column if not exists `region` LowCardinality(String) comment '2-letter country code',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_category_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `category_id` 'the id of one of the categories',
  comment column `region` '2-letter country code',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-categories: the newest version of each record, deleted ones too; the view shop_categories shows those that are not';

create materialized view if not exists weir.shop_categories_current_feed on cluster `weir` to weir.shop_categories_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, `is_deleted`
from weir.shop_categories_log_local
comment 'copies what is written to shop_categories_log to shop_categories_current';

alter table weir.shop_categories_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, `is_deleted`
from weir.shop_categories_log_local;

alter table weir.shop_categories_current_feed on cluster `weir` modify comment 'copies what is written to shop_categories_log to shop_categories_current';

create table if not exists weir.shop_tags_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_tag_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `tag_id` UUID comment 'the id of one of the tags',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_tags_log/first', '{replica}')
order by (org_id, shop_tag_id, version)
comment 'shop-tags: every version of every record, once. A tag on a shop.';

create table if not exists weir.shop_tags_log on cluster `weir` as weir.shop_tags_log_local
engine = Distributed(`weir`, weir, shop_tags_log_local, cityHash64(org_id))
comment 'shop-tags: every version of every record, once. A tag on a shop.';

alter table weir.shop_tags_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_tag_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `tag_id` UUID comment 'the id of one of the tags',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_tag_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `tag_id` 'the id of one of the tags',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-tags: every version of every record, once. A tag on a shop.';

alter table weir.shop_tags_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_tag_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `tag_id` UUID comment 'the id of one of the tags',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_tag_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `tag_id` 'the id of one of the tags',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-tags: every version of every record, once. A tag on a shop.';

create table if not exists weir.shop_tags_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_tag_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `tag_id` UUID comment 'the id of one of the tags',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_tags_current/first', '{replica}', version)
order by (org_id, shop_tag_id)
comment 'shop-tags: the newest version of each record, deleted ones too; the view shop_tags shows those that are not';

create table if not exists weir.shop_tags_current on cluster `weir` as weir.shop_tags_current_local
engine = Distributed(`weir`, weir, shop_tags_current_local, cityHash64(org_id))
comment 'shop-tags: the newest version of each record, deleted ones too; the view shop_tags shows those that are not';

alter table weir.shop_tags_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_tag_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `tag_id` UUID comment 'the id of one of the tags',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_tag_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `tag_id` 'the id of one of the tags',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-tags: the newest version of each record, deleted ones too; the view shop_tags shows those that are not';

alter table weir.shop_tags_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_tag_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `tag_id` UUID comment 'the id of one of the tags',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_tag_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `tag_id` 'the id of one of the tags',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-tags: the newest version of each record, deleted ones too; the view shop_tags shows those that are not';

create materialized view if not exists weir.shop_tags_current_feed on cluster `weir` to weir.shop_tags_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, `is_deleted`
from weir.shop_tags_log_local
comment 'copies what is written to shop_tags_log to shop_tags_current';

alter table weir.shop_tags_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, `is_deleted`
from weir.shop_tags_log_local;

alter table weir.shop_tags_current_feed on cluster `weir` modify comment 'copies what is written to shop_tags_log to shop_tags_current';

create table if not exists weir.shop_keywords_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_keyword_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `keyword_id` UUID comment 'the id of one of the keywords',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_keywords_log/first', '{replica}')
order by (org_id, shop_keyword_id, version)
comment 'shop-keywords: every version of every record, once. A keyword of a shop.';

create table if not exists weir.shop_keywords_log on cluster `weir` as weir.shop_keywords_log_local
engine = Distributed(`weir`, weir, shop_keywords_log_local, cityHash64(org_id))
comment 'shop-keywords: every version of every record, once. A keyword of a shop.';

alter table weir.shop_keywords_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_keyword_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `keyword_id` UUID comment 'the id of one of the keywords',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_keyword_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `keyword_id` 'the id of one of the keywords',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-keywords: every version of every record, once. A keyword of a shop.';

alter table weir.shop_keywords_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_keyword_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `keyword_id` UUID comment 'the id of one of the keywords',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_keyword_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `keyword_id` 'the id of one of the keywords',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-keywords: every version of every record, once. A keyword of a shop.';

create table if not exists weir.shop_keywords_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `shop_keyword_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `keyword_id` UUID comment 'the id of one of the keywords',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shop_keywords_current/first', '{replica}', version)
order by (org_id, shop_keyword_id)
comment 'shop-keywords: the newest version of each record, deleted ones too; the view shop_keywords shows those that are not';

create table if not exists weir.shop_keywords_current on cluster `weir` as weir.shop_keywords_current_local
engine = Distributed(`weir`, weir, shop_keywords_current_local, cityHash64(org_id))
comment 'shop-keywords: the newest version of each record, deleted ones too; the view shop_keywords shows those that are not';

alter table weir.shop_keywords_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_keyword_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `keyword_id` UUID comment 'the id of one of the keywords',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_keyword_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `keyword_id` 'the id of one of the keywords',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-keywords: the newest version of each record, deleted ones too; the view shop_keywords shows those that are not';

alter table weir.shop_keywords_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `shop_keyword_id` UUID comment 'record identifier',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `keyword_id` UUID comment 'the id of one of the keywords',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `shop_keyword_id` 'record identifier',
  comment column `shop_id` 'the id of one of the shops',
  comment column `keyword_id` 'the id of one of the keywords',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'shop-keywords: the newest version of each record, deleted ones too; the view shop_keywords shows those that are not';

create materialized view if not exists weir.shop_keywords_current_feed on cluster `weir` to weir.shop_keywords_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, `is_deleted`
from weir.shop_keywords_log_local
comment 'copies what is written to shop_keywords_log to shop_keywords_current';

alter table weir.shop_keywords_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, `is_deleted`
from weir.shop_keywords_log_local;

alter table weir.shop_keywords_current_feed on cluster `weir` modify comment 'copies what is written to shop_keywords_log to shop_keywords_current';

create table if not exists weir.student_favourites_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `student_favourite_id` UUID comment 'record identifier',
  `customer_id` UUID comment 'the id of one of the customers',
  `shop_id` UUID comment 'the id of one of the shops',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/student_favourites_log/first', '{replica}')
order by (org_id, student_favourite_id, version)
comment 'student-favourites: every version of every record, once. A shop that a student marked as a favourite.';

create table if not exists weir.student_favourites_log on cluster `weir` as weir.student_favourites_log_local
engine = Distributed(`weir`, weir, student_favourites_log_local, cityHash64(org_id))
comment 'student-favourites: every version of every record, once. A shop that a student marked as a favourite.';

alter table weir.student_favourites_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `student_favourite_id` UUID comment 'record identifier',
  add column if not exists `customer_id` UUID comment 'the id of one of the customers',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `student_favourite_id` 'record identifier',
  comment column `customer_id` 'the id of one of the customers',
  comment column `shop_id` 'the id of one of the shops',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'student-favourites: every version of every record, once. A shop that a student marked as a favourite.';

alter table weir.student_favourites_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `student_favourite_id` UUID comment 'record identifier',
  add column if not exists `customer_id` UUID comment 'the id of one of the customers',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `student_favourite_id` 'record identifier',
  comment column `customer_id` 'the id of one of the customers',
  comment column `shop_id` 'the id of one of the shops',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'student-favourites: every version of every record, once. A shop that a student marked as a favourite.';

create table if not exists weir.student_favourites_current_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `student_favourite_id` UUID comment 'record identifier',
  `customer_id` UUID comment 'the id of one of the customers',
  `shop_id` UUID comment 'the id of one of the shops',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/student_favourites_current/first', '{replica}', version)
order by (org_id, student_favourite_id)
comment 'student-favourites: the newest version of each record, deleted ones too; the view student_favourites shows those that are not';

create table if not exists weir.student_favourites_current on cluster `weir` as weir.student_favourites_current_local
engine = Distributed(`weir`, weir, student_favourites_current_local, cityHash64(org_id))
comment 'student-favourites: the newest version of each record, deleted ones too; the view student_favourites shows those that are not';

alter table weir.student_favourites_current_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `student_favourite_id` UUID comment 'record identifier',
  add column if not exists `customer_id` UUID comment 'the id of one of the customers',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `student_favourite_id` 'record identifier',
  comment column `customer_id` 'the id of one of the customers',
  comment column `shop_id` 'the id of one of the shops',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'student-favourites: the newest version of each record, deleted ones too; the view student_favourites shows those that are not';

alter table weir.student_favourites_current on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `student_favourite_id` UUID comment 'record identifier',
  add column if not exists `customer_id` UUID comment 'the id of one of the customers',
  add column if not exists `shop_id` UUID comment 'the id of one of the shops',
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  add column if not exists `is_deleted` Nullable(Bool) comment 'marks the record as deleted: it leaves the views, and still satisfies references',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `student_favourite_id` 'record identifier',
  comment column `customer_id` 'the id of one of the customers',
  comment column `shop_id` 'the id of one of the shops',
  comment column `created` 'when the record was created at its source',
  comment column `updated` 'when the record was last changed at its source',
  comment column `is_deleted` 'marks the record as deleted: it leaves the views, and still satisfies references',
  modify comment 'student-favourites: the newest version of each record, deleted ones too; the view student_favourites shows those that are not';

create materialized view if not exists weir.student_favourites_current_feed on cluster `weir` to weir.student_favourites_current_local as
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, `is_deleted`
from weir.student_favourites_log_local
comment 'copies what is written to student_favourites_log to student_favourites_current';

alter table weir.student_favourites_current_feed on cluster `weir` modify query
select `org_id`, `request_id`, `batch_id`, `accepted_at`, `version`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, `is_deleted`
from weir.student_favourites_log_local;

alter table weir.student_favourites_current_feed on cluster `weir` modify comment 'copies what is written to student_favourites_log to student_favourites_current';

create table if not exists weir.interactions_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `interaction_id` UUID comment 'given by the service',
  `recorded_at` DateTime64(3, 'UTC') comment 'when the service took it in',
  `interaction_type` LowCardinality(String) comment 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  `user_id` Nullable(String) comment 'pseudonymous user identifier',
  `student_id` Nullable(UUID) comment 'an existing customer; the id of one of the customers',
  `item_type` LowCardinality(String) comment 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  `item_id` UUID comment 'the id of a record of the kind that item_type says',
  `city` Nullable(String) comment 'where the interaction occurred',
  `country` Nullable(String) comment 'where the interaction occurred',
  `platform` LowCardinality(Nullable(String)) comment 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  `event_timestamp` DateTime64(3, 'UTC') comment 'when it happened',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE when it came from a recommendation response, null for browsing',
  `recommendation_id` Nullable(UUID) comment 'the recommendation that it came from'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/interactions_log/first', '{replica}', version)
order by (org_id, event_timestamp, interaction_id)
comment 'interactions: every version of every record, once. One interaction of a user with a tag, an offer, a shop or a keyword.';

create table if not exists weir.interactions_log on cluster `weir` as weir.interactions_log_local
engine = Distributed(`weir`, weir, interactions_log_local, cityHash64(org_id))
comment 'interactions: every version of every record, once. One interaction of a user with a tag, an offer, a shop or a keyword.';

alter table weir.interactions_log_local on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `interaction_id` UUID comment 'given by the service',
  add column if not exists `recorded_at` DateTime64(3, 'UTC') comment 'when the service took it in',
  add column if not exists `interaction_type` LowCardinality(String) comment 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  add column if not exists `user_id` Nullable(String) comment 'pseudonymous user identifier',
  add column if not exists `student_id` Nullable(UUID) comment 'an existing customer; the id of one of the customers',
  add column if not exists `item_type` LowCardinality(String) comment 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  add column if not exists `item_id` UUID comment 'the id of a record of the kind that item_type says',
  add column if not exists `city` Nullable(String) comment 'where the interaction occurred',
  add column if not exists `country` Nullable(String) comment 'where the interaction occurred',
  add column if not exists `platform` LowCardinality(Nullable(String)) comment 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  add column if not exists `event_timestamp` DateTime64(3, 'UTC') comment 'when it happened',
  add column if not exists `source` LowCardinality(Nullable(String)) comment 'SERVICE when it came from a recommendation response, null for browsing',
  add column if not exists `recommendation_id` Nullable(UUID) comment 'the recommendation that it came from',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `interaction_id` 'given by the service',
  comment column `recorded_at` 'when the service took it in',
  comment column `interaction_type` 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  comment column `user_id` 'pseudonymous user identifier',
  comment column `student_id` 'an existing customer; the id of one of the customers',
  comment column `item_type` 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  comment column `item_id` 'the id of a record of the kind that item_type says',
  comment column `city` 'where the interaction occurred',
  comment column `country` 'where the interaction occurred',
  comment column `platform` 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  comment column `event_timestamp` 'when it happened',
  comment column `source` 'SERVICE when it came from a recommendation response, null for browsing',
  comment column `recommendation_id` 'the recommendation that it came from',
  modify comment 'interactions: every version of every record, once. One interaction of a user with a tag, an offer, a shop or a keyword.';

alter table weir.interactions_log on cluster `weir`
  add column if not exists `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  add column if not exists `request_id` UUID comment 'the request that brought it',
  add column if not exists `batch_id` UUID comment 'the batch of that request',
  add column if not exists `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  add column if not exists `version` UInt64 comment 'grows with each version of a record',
  add column if not exists `interaction_id` UUID comment 'given by the service',
  add column if not exists `recorded_at` DateTime64(3, 'UTC') comment 'when the service took it in',
  add column if not exists `interaction_type` LowCardinality(String) comment 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  add column if not exists `user_id` Nullable(String) comment 'pseudonymous user identifier',
  add column if not exists `student_id` Nullable(UUID) comment 'an existing customer; the id of one of the customers',
  add column if not exists `item_type` LowCardinality(String) comment 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  add column if not exists `item_id` UUID comment 'the id of a record of the kind that item_type says',
  add column if not exists `city` Nullable(String) comment 'where the interaction occurred',
  add column if not exists `country` Nullable(String) comment 'where the interaction occurred',
  add column if not exists `platform` LowCardinality(Nullable(String)) comment 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  add column if not exists `event_timestamp` DateTime64(3, 'UTC') comment 'when it happened',
  add column if not exists `source` LowCardinality(Nullable(String)) comment 'SERVICE when it came from a recommendation response, null for browsing',
  add column if not exists `recommendation_id` Nullable(UUID) comment 'the recommendation that it came from',
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `accepted_at` 'when this version was accepted',
  comment column `version` 'grows with each version of a record',
  comment column `interaction_id` 'given by the service',
  comment column `recorded_at` 'when the service took it in',
  comment column `interaction_type` 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  comment column `user_id` 'pseudonymous user identifier',
  comment column `student_id` 'an existing customer; the id of one of the customers',
  comment column `item_type` 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  comment column `item_id` 'the id of a record of the kind that item_type says',
  comment column `city` 'where the interaction occurred',
  comment column `country` 'where the interaction occurred',
  comment column `platform` 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  comment column `event_timestamp` 'when it happened',
  comment column `source` 'SERVICE when it came from a recommendation response, null for browsing',
  comment column `recommendation_id` 'the recommendation that it came from',
  modify comment 'interactions: every version of every record, once. One interaction of a user with a tag, an offer, a shop or a keyword.';

create table if not exists weir.rejections_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `rejected_at` DateTime64(3, 'UTC') comment 'when it was refused',
  `version` UInt64 comment 'its place in the log',
  `type` LowCardinality(String) comment 'the type of the record',
  `index` UInt32 comment 'its place in the request',
  `id` Nullable(String) comment 'what was given as its id',
  `problems` Array(Tuple(field Nullable(String), code String, message String)) comment 'what is wrong with it; the field is null where it is the record as a whole',
  `record` String comment 'the record as it was sent, in JSON; at most 64 KiB of it',
  `truncated` Bool comment 'whether the record was too large to be kept whole'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/rejections_log/first', '{replica}', version)
order by (org_id, rejected_at, batch_id, `index`)
comment 'refused records, each once; the view rejections shows them';

create table if not exists weir.rejections_log on cluster `weir` as weir.rejections_log_local
engine = Distributed(`weir`, weir, rejections_log_local, cityHash64(org_id))
comment 'refused records, each once; the view rejections shows them';

alter table weir.rejections_log_local on cluster `weir`
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `rejected_at` 'when it was refused',
  comment column `version` 'its place in the log',
  comment column `type` 'the type of the record',
  comment column `index` 'its place in the request',
  comment column `id` 'what was given as its id',
  comment column `problems` 'what is wrong with it; the field is null where it is the record as a whole',
  comment column `record` 'the record as it was sent, in JSON; at most 64 KiB of it',
  comment column `truncated` 'whether the record was too large to be kept whole',
  modify comment 'refused records, each once; the view rejections shows them';

alter table weir.rejections_log on cluster `weir`
  comment column `org_id` 'the organisation that uploaded it',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `rejected_at` 'when it was refused',
  comment column `version` 'its place in the log',
  comment column `type` 'the type of the record',
  comment column `index` 'its place in the request',
  comment column `id` 'what was given as its id',
  comment column `problems` 'what is wrong with it; the field is null where it is the record as a whole',
  comment column `record` 'the record as it was sent, in JSON; at most 64 KiB of it',
  comment column `truncated` 'whether the record was too large to be kept whole',
  modify comment 'refused records, each once; the view rejections shows them';

create table if not exists weir.waiting_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `type` LowCardinality(String) comment 'the type of the record that waits',
  `id` UUID comment 'the id of the record that waits',
  `missing` Array(Tuple(field String, type String, id UUID)) comment 'the records that it waits for: the field that refers to each, its type and its id',
  `since` DateTime64(3, 'UTC') comment 'when it began to wait',
  `until` DateTime64(3, 'UTC') comment 'when it is refused if something is still missing',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `index` UInt32 comment 'its place in the request; of an interaction, its place in the batch',
  `state` LowCardinality(String) comment 'waiting, accepted, refused, superseded or cancelled',
  `changed_at` DateTime64(3, 'UTC') comment 'since when it is in this state',
  `version` UInt64 comment 'grows with each change'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/waiting_log/first', '{replica}', version)
order by (org_id, type, batch_id, `index`)
comment 'records that wait or waited for what they refer to, with what came of it; the view waiting shows those that wait';

create table if not exists weir.waiting_log on cluster `weir` as weir.waiting_log_local
engine = Distributed(`weir`, weir, waiting_log_local, cityHash64(org_id))
comment 'records that wait or waited for what they refer to, with what came of it; the view waiting shows those that wait';

alter table weir.waiting_log_local on cluster `weir`
  comment column `org_id` 'the organisation that uploaded it',
  comment column `type` 'the type of the record that waits',
  comment column `id` 'the id of the record that waits',
  comment column `missing` 'the records that it waits for: the field that refers to each, its type and its id',
  comment column `since` 'when it began to wait',
  comment column `until` 'when it is refused if something is still missing',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `index` 'its place in the request; of an interaction, its place in the batch',
  comment column `state` 'waiting, accepted, refused, superseded or cancelled',
  comment column `changed_at` 'since when it is in this state',
  comment column `version` 'grows with each change',
  modify comment 'records that wait or waited for what they refer to, with what came of it; the view waiting shows those that wait';

alter table weir.waiting_log on cluster `weir`
  comment column `org_id` 'the organisation that uploaded it',
  comment column `type` 'the type of the record that waits',
  comment column `id` 'the id of the record that waits',
  comment column `missing` 'the records that it waits for: the field that refers to each, its type and its id',
  comment column `since` 'when it began to wait',
  comment column `until` 'when it is refused if something is still missing',
  comment column `request_id` 'the request that brought it',
  comment column `batch_id` 'the batch of that request',
  comment column `index` 'its place in the request; of an interaction, its place in the batch',
  comment column `state` 'waiting, accepted, refused, superseded or cancelled',
  comment column `changed_at` 'since when it is in this state',
  comment column `version` 'grows with each change',
  modify comment 'records that wait or waited for what they refer to, with what came of it; the view waiting shows those that wait';

create table if not exists weir.marts_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `mart` LowCardinality(String) comment 'the mart',
  `law` LowCardinality(String) comment 'stands for the query that made the rows',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/marts_kept/first', '{replica}', kept_at)
order by (org_id, mart, law, part)
comment 'which rows of kept marts are shown: of each part those of its last generation';

create table if not exists weir.marts_kept on cluster `weir` as weir.marts_kept_local
engine = Distributed(`weir`, weir, marts_kept_local, cityHash64(org_id))
comment 'which rows of kept marts are shown: of each part those of its last generation';

create table if not exists weir.changes_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `type` LowCardinality(String) comment 'the type of the records',
  `stored_at` DateTime64(3, 'UTC') comment 'when they were written',
  `since` DateTime64(3, 'UTC') comment 'when the first of them was accepted'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/changes/first', '{replica}')
order by (org_id, type, stored_at)
ttl toDateTime(stored_at) + interval 3 day
comment 'when records of an organisation and a type were written';

create table if not exists weir.changes on cluster `weir` as weir.changes_local
engine = Distributed(`weir`, weir, changes_local, cityHash64(org_id))
comment 'when records of an organisation and a type were written';

create table if not exists weir.sales_by_day_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the transactions, in UTC: of when they were created, or else accepted',
  `shop_id` UUID comment 'the shop',
  `region` LowCardinality(String) comment 'the 2-letter country code of the transactions',
  `branch_id` Nullable(UUID) comment 'the branch, null where the transactions name none',
  `source` LowCardinality(Nullable(String)) comment 'where the transactions come from, for example online or in-store; null where they do not say it',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid than without discounts',
  `customers` UInt64 comment 'how many different students bought; transactions without a student_id do not count',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/sales_by_day_kept/first', '{replica}')
order by (org_id, day, shop_id)
settings index_granularity = 2048
comment 'sales_by_day: kept for large organisations; the view sales_by_day shows them';

create table if not exists weir.sales_by_day_kept on cluster `weir` as weir.sales_by_day_kept_local
engine = Distributed(`weir`, weir, sales_by_day_kept_local, cityHash64(org_id))
comment 'sales_by_day: kept for large organisations; the view sales_by_day shows them';

create table if not exists weir.cohorts_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `cohort` Date32 comment 'the first day of the month in which these customers first bought',
  `month` UInt64 comment 'how many months after that: 0 is the same month',
  `customers` UInt64 comment 'how many customers first bought in the month of the cohort',
  `active` UInt64 comment 'how many of them bought in this month',
  `retention` Nullable(Float64) comment 'active as a share of customers',
  `transactions` UInt64 comment 'how many transactions they made in this month',
  `amount` Decimal(38, 9) comment 'how much they paid in this month',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/cohorts_kept/first', '{replica}')
order by (org_id, cohort, month)
settings index_granularity = 2048
comment 'cohorts: kept for large organisations; the view cohorts shows them';

create table if not exists weir.cohorts_kept on cluster `weir` as weir.cohorts_kept_local
engine = Distributed(`weir`, weir, cohorts_kept_local, cityHash64(org_id))
comment 'cohorts: kept for large organisations; the view cohorts shows them';

create table if not exists weir.offers_used_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `offer_id` UUID comment 'the offer',
  `shop_id` UUID comment 'its shop',
  `name` String comment 'what it is called',
  `type` String comment 'for example percentage or fixed',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_enabled` Nullable(Bool) comment 'whether it is enabled, null where that was not said',
  `views` UInt64 comment 'how often a page of it was viewed',
  `interactions` UInt64 comment 'how many interactions there were with it, views among them',
  `uses` UInt64 comment 'in how many transactions it was used',
  `customers` UInt64 comment 'how many different students used it',
  `amount` Decimal(38, 9) comment 'how much was paid in these transactions',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `share_of_sales` Nullable(Float64) comment 'its transactions as a share of its shop\'s transactions',
  `eligible_branches` UInt64 comment 'the shop\'s branches in which it may be used: those of allowed_branches, or all',
  `branches_used` UInt64 comment 'in how many of these it was used',
  `share_of_eligible` Nullable(Float64) comment 'branches_used as a share of eligible_branches',
  `first_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was first used',
  `last_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was last used',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/offers_used_kept/first', '{replica}')
order by (org_id, offer_id, shop_id)
settings index_granularity = 2048
comment 'offers_used: kept for large organisations; the view offers_used shows them';

create table if not exists weir.offers_used_kept on cluster `weir` as weir.offers_used_kept_local
engine = Distributed(`weir`, weir, offers_used_kept_local, cityHash64(org_id))
comment 'offers_used: kept for large organisations; the view offers_used shows them';

create table if not exists weir.shops_overview_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `shop_id` UUID comment 'the shop',
  `name` String comment 'what it is called',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_public` Nullable(Bool) comment 'whether it is public, null where that was not said',
  `branches` UInt64 comment 'how many branches it has',
  `categories` Array(String) comment 'the names of its categories',
  `tags` Array(String) comment 'the names of its tags',
  `keywords` Array(String) comment 'the names of its keywords',
  `offers` UInt64 comment 'how many offers it has',
  `offers_now` UInt64 comment 'how many of them are enabled and valid at this moment',
  `favourites` UInt64 comment 'how many students have it among their favourites',
  `interactions` UInt64 comment 'how many interactions there were with it and with its offers',
  `transactions` UInt64 comment 'how many transactions were made in it',
  `customers` UInt64 comment 'how many different students bought in it',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/shops_overview_kept/first', '{replica}')
order by (org_id, shop_id, name)
settings index_granularity = 2048
comment 'shops_overview: kept for large organisations; the view shops_overview shows them';

create table if not exists weir.shops_overview_kept on cluster `weir` as weir.shops_overview_kept_local
engine = Distributed(`weir`, weir, shops_overview_kept_local, cityHash64(org_id))
comment 'shops_overview: kept for large organisations; the view shops_overview shows them';

create table if not exists weir.customers_overview_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `user_id` UUID comment 'the user that the customer is',
  `region` LowCardinality(String) comment 'the 2-letter country code of the customer',
  `gender` Nullable(String) comment 'as the organisation records it',
  `age_band` Nullable(String) comment 'how old the customer is today, in bands; null without a birthdate',
  `institute_id` Nullable(UUID) comment 'the educational institute',
  `institute` Nullable(String) comment 'what it is called',
  `course_id` Nullable(UUID) comment 'the course',
  `course` Nullable(String) comment 'what it is called',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made; null where there is none',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `shops` UInt64 comment 'in how many different shops',
  `top_shops` Array(UUID) comment 'the shops with the most transactions of this customer, the first first; at most 5',
  `favourite_shops` Array(UUID) comment 'the shops among the favourites of this customer',
  `tags` Array(String) comment 'the names of the tags of shops that this customer bought in, the commonest first',
  `keywords` Array(String) comment 'the names of the keywords of these shops, the commonest first',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/customers_overview_kept/first', '{replica}')
order by (org_id, customer_id, user_id)
settings index_granularity = 2048
comment 'customers_overview: kept for large organisations; the view customers_overview shows them';

create table if not exists weir.customers_overview_kept on cluster `weir` as weir.customers_overview_kept_local
engine = Distributed(`weir`, weir, customers_overview_kept_local, cityHash64(org_id))
comment 'customers_overview: kept for large organisations; the view customers_overview shows them';

create table if not exists weir.customers_by_attribute_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `attribute` LowCardinality(String) comment 'region, institute, course, age_band, gender, tag or keyword; the last two of shops that a customer bought in',
  `value` String comment 'its value',
  `customers` UInt64 comment 'how many customers have it',
  `buyers` UInt64 comment 'how many of them have bought something',
  `transactions` UInt64 comment 'how many transactions they made, in all shops',
  `amount` Decimal(38, 9) comment 'how much they paid',
  `savings` Decimal(38, 9) comment 'how much less they paid',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/customers_by_attribute_kept/first', '{replica}')
order by (org_id, attribute, value)
settings index_granularity = 2048
comment 'customers_by_attribute: kept for large organisations; the view customers_by_attribute shows them';

create table if not exists weir.customers_by_attribute_kept on cluster `weir` as weir.customers_by_attribute_kept_local
engine = Distributed(`weir`, weir, customers_by_attribute_kept_local, cityHash64(org_id))
comment 'customers_by_attribute: kept for large organisations; the view customers_by_attribute shows them';

create table if not exists weir.customer_segments_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `recency_days` Int64 comment 'how many days ago the last transaction was made, counted in days of UTC',
  `frequency` UInt64 comment 'how many transactions',
  `monetary` Decimal(38, 9) comment 'how much was paid',
  `r` UInt8 comment '5 for the fifth of customers who bought last, 1 for those whose last transaction is longest ago',
  `f` UInt8 comment '5 for the fifth with the most transactions',
  `m` UInt8 comment '5 for the fifth who paid most',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/customer_segments_kept/first', '{replica}')
order by (org_id, customer_id, segment)
settings index_granularity = 2048
comment 'customer_segments: kept for large organisations; the view customer_segments shows them';

create table if not exists weir.customer_segments_kept on cluster `weir` as weir.customer_segments_kept_local
engine = Distributed(`weir`, weir, customer_segments_kept_local, cityHash64(org_id))
comment 'customer_segments: kept for large organisations; the view customer_segments shows them';

create table if not exists weir.recommendations_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE where they came from a recommendation, null for browsing',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/recommendations_kept/first', '{replica}')
order by (org_id, day, item_type)
settings index_granularity = 2048
comment 'recommendations: kept for large organisations; the view recommendations shows them';

create table if not exists weir.recommendations_kept on cluster `weir` as weir.recommendations_kept_local
engine = Distributed(`weir`, weir, recommendations_kept_local, cityHash64(org_id))
comment 'recommendations: kept for large organisations; the view recommendations shows them';

create table if not exists weir.recommendations_by_id_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `recommendation_id` UUID comment 'the recommendation',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `first_day` Date32 comment 'the day of the first interaction that it brought, in UTC',
  `last_day` Date32 comment 'the day of the last one',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/recommendations_by_id_kept/first', '{replica}')
order by (org_id, recommendation_id, item_type)
settings index_granularity = 2048
comment 'recommendations_by_id: kept for large organisations; the view recommendations_by_id shows them';

create table if not exists weir.recommendations_by_id_kept on cluster `weir` as weir.recommendations_by_id_kept_local
engine = Distributed(`weir`, weir, recommendations_by_id_kept_local, cityHash64(org_id))
comment 'recommendations_by_id: kept for large organisations; the view recommendations_by_id shows them';

create table if not exists weir.interactions_by_day_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `item_id` UUID comment 'the item',
  `interaction_type` LowCardinality(String) comment 'FILTER_CLICK, SHARE, PAGE_VIEW or DISCOUNT_CODE',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `interactions` UInt64 comment 'how many interactions',
  `recommended` UInt64 comment 'how many of them came from a recommendation',
  `persons` UInt64 comment 'how many different customers or else users; interactions without either do not count',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/interactions_by_day_kept/first', '{replica}')
order by (org_id, day, item_type)
settings index_granularity = 2048
comment 'interactions_by_day: kept for large organisations; the view interactions_by_day shows them';

create table if not exists weir.interactions_by_day_kept on cluster `weir` as weir.interactions_by_day_kept_local
engine = Distributed(`weir`, weir, interactions_by_day_kept_local, cityHash64(org_id))
comment 'interactions_by_day: kept for large organisations; the view interactions_by_day shows them';

create table if not exists weir.funnel_kept_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day on which the shop was viewed, in UTC',
  `shop_id` UUID comment 'the shop',
  `viewed` UInt64 comment 'how many different persons viewed a page of the shop',
  `went_to_offer` UInt64 comment 'how many of them did something with an offer of the shop within 30 days after that',
  `bought` UInt64 comment 'how many of these bought in the shop within 30 days after that',
  `bought_at_all` UInt64 comment 'how many of those who viewed the shop bought in it within 30 days, with or without an offer between',
  `offer_share` Nullable(Float64) comment 'went_to_offer as a share of viewed',
  `bought_share` Nullable(Float64) comment 'bought as a share of went_to_offer',
  `part` Int32 comment 'the part that it belongs to',
  `generation` UInt64 comment 'of rows that were made at once, and are shown together',
  `kept_at` DateTime64(6, 'UTC') comment 'when the rows began to be made'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/funnel_kept/first', '{replica}')
order by (org_id, day, shop_id)
settings index_granularity = 2048
comment 'funnel: kept for large organisations; the view funnel shows them';

create table if not exists weir.funnel_kept on cluster `weir` as weir.funnel_kept_local
engine = Distributed(`weir`, weir, funnel_kept_local, cityHash64(org_id))
comment 'funnel: kept for large organisations; the view funnel shows them';

create materialized view if not exists weir.shops_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'shops' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.shops_log_local
group by org_id
comment 'notes in changes what is written to shops_log';

create materialized view if not exists weir.categories_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'categories' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.categories_log_local
group by org_id
comment 'notes in changes what is written to categories_log';

create materialized view if not exists weir.tags_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'tags' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.tags_log_local
group by org_id
comment 'notes in changes what is written to tags_log';

create materialized view if not exists weir.keywords_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'keywords' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.keywords_log_local
group by org_id
comment 'notes in changes what is written to keywords_log';

create materialized view if not exists weir.institutes_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'institutes' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.institutes_log_local
group by org_id
comment 'notes in changes what is written to institutes_log';

create materialized view if not exists weir.courses_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'courses' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.courses_log_local
group by org_id
comment 'notes in changes what is written to courses_log';

create materialized view if not exists weir.customers_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'customers' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.customers_log_local
group by org_id
comment 'notes in changes what is written to customers_log';

create materialized view if not exists weir.branches_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'branches' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.branches_log_local
group by org_id
comment 'notes in changes what is written to branches_log';

create materialized view if not exists weir.offers_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'offers' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.offers_log_local
group by org_id
comment 'notes in changes what is written to offers_log';

create materialized view if not exists weir.transactions_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'transactions' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.transactions_log_local
group by org_id
comment 'notes in changes what is written to transactions_log';

create materialized view if not exists weir.shop_categories_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'shop-categories' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.shop_categories_log_local
group by org_id
comment 'notes in changes what is written to shop_categories_log';

create materialized view if not exists weir.shop_tags_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'shop-tags' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.shop_tags_log_local
group by org_id
comment 'notes in changes what is written to shop_tags_log';

create materialized view if not exists weir.shop_keywords_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'shop-keywords' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.shop_keywords_log_local
group by org_id
comment 'notes in changes what is written to shop_keywords_log';

create materialized view if not exists weir.student_favourites_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'student-favourites' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.student_favourites_log_local
group by org_id
comment 'notes in changes what is written to student_favourites_log';

create materialized view if not exists weir.interactions_changes_feed on cluster `weir` to weir.changes_local as
select org_id, 'interactions' as type, now64(3, 'UTC') as stored_at, min(accepted_at) as since
from weir.interactions_log_local
group by org_id
comment 'notes in changes what is written to interactions_log';

create table if not exists weir.transactions_for_sales_by_day_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `savings_exact` Nullable(Decimal(38, 9)) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `part` Int32 comment 'the part that it belongs to',
  `version` UInt64 comment 'the version of the record',
  `is_gone` Bool comment 'whether it is deleted, or belongs to another part since'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/transactions_for_sales_by_day/first', '{replica}', version)
order by (org_id, part, transaction_id)
settings index_granularity = 1024
comment 'transactions, sorted by the parts of sales_by_day; only its kept rows are made from it';

create table if not exists weir.transactions_for_sales_by_day on cluster `weir` as weir.transactions_for_sales_by_day_local
engine = Distributed(`weir`, weir, transactions_for_sales_by_day_local, cityHash64(org_id))
comment 'transactions, sorted by the parts of sales_by_day; only its kept rows are made from it';

create table if not exists weir.transactions_for_customers_overview_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `savings_exact` Nullable(Decimal(38, 9)) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `part` Int32 comment 'the part that it belongs to',
  `version` UInt64 comment 'the version of the record',
  `is_gone` Bool comment 'whether it is deleted, or belongs to another part since'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/transactions_for_customers_overview/first', '{replica}', version)
order by (org_id, part, transaction_id)
settings index_granularity = 1024
comment 'transactions, sorted by the parts of customers_overview; only its kept rows are made from it';

create table if not exists weir.transactions_for_customers_overview on cluster `weir` as weir.transactions_for_customers_overview_local
engine = Distributed(`weir`, weir, transactions_for_customers_overview_local, cityHash64(org_id))
comment 'transactions, sorted by the parts of customers_overview; only its kept rows are made from it';

create table if not exists weir.own_segments_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `version` UInt64 comment 'how often its condition was set',
  `condition` String comment 'who is in it',
  `about` String comment 'what it is for',
  `created_at` DateTime64(3, 'UTC') comment 'when this condition was set',
  `is_dropped` Bool comment 'whether the segment is dropped',
  `noted_at` DateTime64(6, 'UTC') comment 'when this row was written: of several the last one counts'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/own_segments_log/first', '{replica}', noted_at)
order by (org_id, segment, version)
comment 'own segments of organisations, every version of each; the view own_segments shows the last';

create table if not exists weir.own_segments_log on cluster `weir` as weir.own_segments_log_local
engine = Distributed(`weir`, weir, own_segments_log_local, cityHash64(org_id))
comment 'own segments of organisations, every version of each; the view own_segments shows the last';

create table if not exists weir.own_members_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `customer_id` UUID comment 'the customer',
  `since` DateTime64(3, 'UTC') comment 'when the customer was first found to be in it',
  `until` DateTime64(3, 'UTC') comment 'when no longer; far in the future where the customer still is',
  `ended` UInt8 comment '1 where the customer is no longer in it: of two rows with one beginning, this one counts'
) engine = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/own_members_log/first', '{replica}', ended)
order by (org_id, segment, customer_id, since)
comment 'who was in own segments, since when and until when; segment_members shows those of a moment';

create table if not exists weir.own_members_log on cluster `weir` as weir.own_members_log_local
engine = Distributed(`weir`, weir, own_members_log_local, cityHash64(org_id))
comment 'who was in own segments, since when and until when; segment_members shows those of a moment';

create table if not exists weir.segment_sizes_log_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `version` UInt64 comment 'how often its condition was set',
  `at` DateTime64(3, 'UTC') comment 'when its members were counted',
  `members` UInt64 comment 'how many they were'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/segment_sizes_log/first', '{replica}')
order by (org_id, segment, at)
comment 'how many customers were in each segment; the view segment_sizes shows them by day';

create table if not exists weir.segment_sizes_log on cluster `weir` as weir.segment_sizes_log_local
engine = Distributed(`weir`, weir, segment_sizes_log_local, cityHash64(org_id))
comment 'how many customers were in each segment; the view segment_sizes shows them by day';

create table if not exists weir.mask_salts_local on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `k0` UInt64 comment 'the first half of the secret',
  `k1` UInt64 comment 'the second half of the secret',
  `made_at` DateTime64(6, 'UTC') comment 'when it was made; of several the first counts'
) engine = ReplicatedMergeTree('/clickhouse/tables/{shard}/weir/mask_salts/first', '{replica}')
order by (org_id)
comment 'by organisation, the secret that pseudonyms of its persons are made with; no masked analyst may read it';

create table if not exists weir.mask_salts on cluster `weir` as weir.mask_salts_local
engine = Distributed(`weir`, weir, mask_salts_local, cityHash64(org_id))
comment 'by organisation, the secret that pseudonyms of its persons are made with; no masked analyst may read it';

create or replace view weir.shops on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_id` UUID comment 'record identifier',
  `name` String comment 'what the shop is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.shops_current as log final
where not ifNull(log.is_deleted, false)
comment 'A shop that takes part.';

create or replace view weir.shops_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_id` UUID comment 'record identifier',
  `name` String comment 'what the shop is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `is_public` Nullable(Bool) comment 'whether the shop is shown publicly',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `shop_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.shops_log as log final
comment 'shops: every version of every record, with the time in which it was valid. A shop that takes part.';

create or replace view weir.shops_as_of on cluster `weir` sql security invoker as
select `org_id`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.shops_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `shop_id` desc, version desc
  limit 1 by org_id, `shop_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'shops as they were at a moment: weir.shops_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.categories on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `category_id` UUID comment 'record identifier',
  `name` String comment 'what the category is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `category_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.categories_current as log final
where not ifNull(log.is_deleted, false)
comment 'A category that shops are put into.';

create or replace view weir.categories_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `category_id` UUID comment 'record identifier',
  `name` String comment 'what the category is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `category_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `category_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.categories_log as log final
comment 'categories: every version of every record, with the time in which it was valid. A category that shops are put into.';

create or replace view weir.categories_as_of on cluster `weir` sql security invoker as
select `org_id`, `category_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `category_id`, `name`, `region`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.categories_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `category_id` desc, version desc
  limit 1 by org_id, `category_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'categories as they were at a moment: weir.categories_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.tags on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `tag_id` UUID comment 'record identifier',
  `name` String comment 'the tag itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `tag_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.tags_current as log final
where not ifNull(log.is_deleted, false)
comment 'A tag that shops carry.';

create or replace view weir.tags_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `tag_id` UUID comment 'record identifier',
  `name` String comment 'the tag itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `tag_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `tag_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.tags_log as log final
comment 'tags: every version of every record, with the time in which it was valid. A tag that shops carry.';

create or replace view weir.tags_as_of on cluster `weir` sql security invoker as
select `org_id`, `tag_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `tag_id`, `name`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.tags_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `tag_id` desc, version desc
  limit 1 by org_id, `tag_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'tags as they were at a moment: weir.tags_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.keywords on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `keyword_id` UUID comment 'record identifier',
  `name` String comment 'the keyword itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `keyword_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.keywords_current as log final
where not ifNull(log.is_deleted, false)
comment 'A keyword that shops are found by.';

create or replace view weir.keywords_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `keyword_id` UUID comment 'record identifier',
  `name` String comment 'the keyword itself',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `keyword_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `keyword_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.keywords_log as log final
comment 'keywords: every version of every record, with the time in which it was valid. A keyword that shops are found by.';

create or replace view weir.keywords_as_of on cluster `weir` sql security invoker as
select `org_id`, `keyword_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `keyword_id`, `name`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.keywords_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `keyword_id` desc, version desc
  limit 1 by org_id, `keyword_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'keywords as they were at a moment: weir.keywords_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.institutes on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `institute_id` UUID comment 'record identifier',
  `name` String comment 'what the institute is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `institute_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.institutes_current as log final
where not ifNull(log.is_deleted, false)
comment 'An educational institute.';

create or replace view weir.institutes_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `institute_id` UUID comment 'record identifier',
  `name` String comment 'what the institute is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `institute_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `institute_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.institutes_log as log final
comment 'institutes: every version of every record, with the time in which it was valid. An educational institute.';

create or replace view weir.institutes_as_of on cluster `weir` sql security invoker as
select `org_id`, `institute_id`, `name`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `institute_id`, `name`, `region`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.institutes_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `institute_id` desc, version desc
  limit 1 by org_id, `institute_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'institutes as they were at a moment: weir.institutes_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.courses on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `course_id` UUID comment 'record identifier',
  `name` String comment 'what the course is called',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `course_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.courses_current as log final
where not ifNull(log.is_deleted, false)
comment 'A course of study.';

create or replace view weir.courses_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `course_id` UUID comment 'record identifier',
  `name` String comment 'what the course is called',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `course_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `course_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.courses_log as log final
comment 'courses: every version of every record, with the time in which it was valid. A course of study.';

create or replace view weir.courses_as_of on cluster `weir` sql security invoker as
select `org_id`, `course_id`, `name`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `course_id`, `name`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.courses_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `course_id` desc, version desc
  limit 1 by org_id, `course_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'courses as they were at a moment: weir.courses_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.customers on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `customer_id` UUID comment 'record identifier',
  `user_id` UUID comment 'user identifier',
  `region` LowCardinality(String) comment '2-letter country code',
  `birthdate` Nullable(Date32) comment 'date of birth',
  `institute_id` Nullable(UUID) comment 'educational institute',
  `course_id` Nullable(UUID) comment 'course',
  `gender` Nullable(String) comment 'as the organisation records it',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.customers_current as log final
where not ifNull(log.is_deleted, false)
comment 'A customer. A student is a customer: every student_id is a customer_id.';

create or replace view weir.customers_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `customer_id` UUID comment 'record identifier',
  `user_id` UUID comment 'user identifier',
  `region` LowCardinality(String) comment '2-letter country code',
  `birthdate` Nullable(Date32) comment 'date of birth',
  `institute_id` Nullable(UUID) comment 'educational institute',
  `course_id` Nullable(UUID) comment 'course',
  `gender` Nullable(String) comment 'as the organisation records it',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `customer_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.customers_log as log final
comment 'customers: every version of every record, with the time in which it was valid. A customer. A student is a customer: every student_id is a customer_id.';

create or replace view weir.customers_as_of on cluster `weir` sql security invoker as
select `org_id`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.customers_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `customer_id` desc, version desc
  limit 1 by org_id, `customer_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'customers as they were at a moment: weir.customers_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.branches on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `branch_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the branch is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `latitude` Nullable(Float64) comment 'degrees north of the equator',
  `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.branches_current as log final
where not ifNull(log.is_deleted, false)
comment 'A place where a shop does business.';

create or replace view weir.branches_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `branch_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the branch is called',
  `region` LowCardinality(String) comment '2-letter country code',
  `latitude` Nullable(Float64) comment 'degrees north of the equator',
  `longitude` Nullable(Float64) comment 'degrees east of Greenwich',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `branch_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.branches_log as log final
comment 'branches: every version of every record, with the time in which it was valid. A place where a shop does business.';

create or replace view weir.branches_as_of on cluster `weir` sql security invoker as
select `org_id`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.branches_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `branch_id` desc, version desc
  limit 1 by org_id, `branch_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'branches as they were at a moment: weir.branches_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.offers on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `offer_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the offer is called',
  `type` String comment 'for example percentage or fixed',
  `value` Float64 comment 'how much it takes off, in the unit that type says',
  `region` LowCardinality(String) comment '2-letter country code',
  `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  `allowed_days` Nullable(String) comment 'comma-separated day names',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `value_exact` Nullable(Decimal(38, 9)) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) sql security invoker as
select `org_id`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `is_enabled`, `accepted_at`, `version`, `value_exact`
from weir.offers_current as log final
where not ifNull(log.is_deleted, false)
comment 'An offer of a shop.';

create or replace view weir.offers_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `offer_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `name` String comment 'what the offer is called',
  `type` String comment 'for example percentage or fixed',
  `value` Float64 comment 'how much it takes off, in the unit that type says',
  `region` LowCardinality(String) comment '2-letter country code',
  `allowed_from` Nullable(DateTime64(3, 'UTC')) comment 'start of validity',
  `allowed_to` Nullable(DateTime64(3, 'UTC')) comment 'end of validity',
  `allowed_branches` Nullable(String) comment 'comma-separated branch ids',
  `allowed_days` Nullable(String) comment 'comma-separated day names',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `is_enabled` Nullable(Bool) comment 'whether the offer is currently enabled',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `value_exact` Nullable(Decimal(38, 9)) comment 'value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) sql security invoker as
select `org_id`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `is_enabled`, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `offer_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`, `value_exact`
from weir.offers_log as log final
comment 'offers: every version of every record, with the time in which it was valid. An offer of a shop.';

create or replace view weir.offers_as_of on cluster `weir` sql security invoker as
select `org_id`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `is_enabled`, `accepted_at`, `version`, `value_exact`
from (
  select `org_id`, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, `is_deleted`, `is_enabled`, `accepted_at`, `version`, `value_exact`
  from weir.offers_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `offer_id` desc, version desc
  limit 1 by org_id, `offer_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'offers as they were at a moment: weir.offers_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.transactions on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `savings` Float64 comment 'how much less was paid',
  `amount` Float64 comment 'how much was paid',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `discount_name` Nullable(String) comment 'what the discount is called',
  `discount_type` Nullable(String) comment 'for example percentage or fixed',
  `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record',
  `savings_exact` Nullable(Decimal(38, 9)) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `discount_value_exact` Nullable(Decimal(38, 9)) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) sql security invoker as
select `org_id`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `discount_name`, `discount_type`, `discount_value`, `accepted_at`, `version`, `savings_exact`, `amount_exact`, `discount_value_exact`
from weir.transactions_current as log final
where not ifNull(log.is_deleted, false)
comment 'A purchase in a shop.';

create or replace view weir.transactions_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `transaction_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `region` LowCardinality(String) comment '2-letter country code',
  `savings` Float64 comment 'how much less was paid',
  `amount` Float64 comment 'how much was paid',
  `student_id` Nullable(UUID) comment 'purchasing student',
  `offer_id` Nullable(UUID) comment 'offer used',
  `branch_id` Nullable(UUID) comment 'branch location',
  `source` Nullable(String) comment 'origin of the transaction, for example online or in-store',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `discount_name` Nullable(String) comment 'what the discount is called',
  `discount_type` Nullable(String) comment 'for example percentage or fixed',
  `discount_value` Nullable(Float64) comment 'how much the discount takes off, in the unit that discount_type says',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `savings_exact` Nullable(Decimal(38, 9)) comment 'savings as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `amount_exact` Nullable(Decimal(38, 9)) comment 'amount as an exact number, for sums; with nine decimals, and null from 10^29 on',
  `discount_value_exact` Nullable(Decimal(38, 9)) comment 'discount_value as an exact number, for sums; with nine decimals, and null from 10^29 on'
) sql security invoker as
select `org_id`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `discount_name`, `discount_type`, `discount_value`, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `transaction_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`, `savings_exact`, `amount_exact`, `discount_value_exact`
from weir.transactions_log as log final
comment 'transactions: every version of every record, with the time in which it was valid. A purchase in a shop.';

create or replace view weir.transactions_as_of on cluster `weir` sql security invoker as
select `org_id`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `discount_name`, `discount_type`, `discount_value`, `accepted_at`, `version`, `savings_exact`, `amount_exact`, `discount_value_exact`
from (
  select `org_id`, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, `is_deleted`, `discount_name`, `discount_type`, `discount_value`, `accepted_at`, `version`, `savings_exact`, `amount_exact`, `discount_value_exact`
  from weir.transactions_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `transaction_id` desc, version desc
  limit 1 by org_id, `transaction_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'transactions as they were at a moment: weir.transactions_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.shop_categories on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_category_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `category_id` UUID comment 'the id of one of the categories',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.shop_categories_current as log final
where not ifNull(log.is_deleted, false)
comment 'A shop in a category.';

create or replace view weir.shop_categories_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_category_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `category_id` UUID comment 'the id of one of the categories',
  `region` LowCardinality(String) comment '2-letter country code',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `shop_category_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.shop_categories_log as log final
comment 'shop-categories: every version of every record, with the time in which it was valid. A shop in a category.';

create or replace view weir.shop_categories_as_of on cluster `weir` sql security invoker as
select `org_id`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.shop_categories_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `shop_category_id` desc, version desc
  limit 1 by org_id, `shop_category_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'shop-categories as they were at a moment: weir.shop_categories_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.shop_tags on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_tag_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `tag_id` UUID comment 'the id of one of the tags',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.shop_tags_current as log final
where not ifNull(log.is_deleted, false)
comment 'A tag on a shop.';

create or replace view weir.shop_tags_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_tag_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `tag_id` UUID comment 'the id of one of the tags',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `shop_tag_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.shop_tags_log as log final
comment 'shop-tags: every version of every record, with the time in which it was valid. A tag on a shop.';

create or replace view weir.shop_tags_as_of on cluster `weir` sql security invoker as
select `org_id`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.shop_tags_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `shop_tag_id` desc, version desc
  limit 1 by org_id, `shop_tag_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'shop-tags as they were at a moment: weir.shop_tags_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.shop_keywords on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_keyword_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `keyword_id` UUID comment 'the id of one of the keywords',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.shop_keywords_current as log final
where not ifNull(log.is_deleted, false)
comment 'A keyword of a shop.';

create or replace view weir.shop_keywords_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `shop_keyword_id` UUID comment 'record identifier',
  `shop_id` UUID comment 'the id of one of the shops',
  `keyword_id` UUID comment 'the id of one of the keywords',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `shop_keyword_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.shop_keywords_log as log final
comment 'shop-keywords: every version of every record, with the time in which it was valid. A keyword of a shop.';

create or replace view weir.shop_keywords_as_of on cluster `weir` sql security invoker as
select `org_id`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.shop_keywords_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `shop_keyword_id` desc, version desc
  limit 1 by org_id, `shop_keyword_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'shop-keywords as they were at a moment: weir.shop_keywords_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.student_favourites on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `student_favourite_id` UUID comment 'record identifier',
  `customer_id` UUID comment 'the id of one of the customers',
  `shop_id` UUID comment 'the id of one of the shops',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'always false: a deleted record is not here',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from weir.student_favourites_current as log final
where not ifNull(log.is_deleted, false)
comment 'A shop that a student marked as a favourite.';

create or replace view weir.student_favourites_history on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `student_favourite_id` UUID comment 'record identifier',
  `customer_id` UUID comment 'the id of one of the customers',
  `shop_id` UUID comment 'the id of one of the shops',
  `created` Nullable(DateTime64(3, 'UTC')) comment 'when the record was created at its source',
  `updated` Nullable(DateTime64(3, 'UTC')) comment 'when the record was last changed at its source',
  `is_deleted` Bool comment 'whether this version deleted the record',
  `version` UInt64 comment 'grows with each version of a record',
  `valid_from` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `valid_to` Nullable(DateTime64(3, 'UTC')) comment 'when the next version was accepted; null while this is the newest',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request'
) sql security invoker as
select `org_id`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `version`, accepted_at as valid_from, leadInFrame(toNullable(accepted_at)) over (partition by org_id, `student_favourite_id` order by version rows between current row and unbounded following) as valid_to, `request_id`, `batch_id`
from weir.student_favourites_log as log final
comment 'student-favourites: every version of every record, with the time in which it was valid. A shop that a student marked as a favourite.';

create or replace view weir.student_favourites_as_of on cluster `weir` sql security invoker as
select `org_id`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, ifNull(log.is_deleted, false) as is_deleted, `accepted_at`, `version`
from (
  select `org_id`, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, `is_deleted`, `accepted_at`, `version`
  from weir.student_favourites_log
  where accepted_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
  order by org_id desc, `student_favourite_id` desc, version desc
  limit 1 by org_id, `student_favourite_id`
) as log
where not ifNull(log.is_deleted, false)
comment 'student-favourites as they were at a moment: weir.student_favourites_as_of(at = \'2026-01-31 12:00:00\')';

create or replace view weir.interactions on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `interaction_id` UUID comment 'given by the service',
  `recorded_at` DateTime64(3, 'UTC') comment 'when the service took it in',
  `interaction_type` LowCardinality(String) comment 'what the user did; one of FILTER_CLICK, SHARE, PAGE_VIEW, DISCOUNT_CODE',
  `user_id` Nullable(String) comment 'pseudonymous user identifier',
  `student_id` Nullable(UUID) comment 'an existing customer; the id of one of the customers',
  `item_type` LowCardinality(String) comment 'the kind of thing it was done with; one of TAG, OFFER, SHOP, KEYWORD',
  `item_id` UUID comment 'the id of a record of the kind that item_type says',
  `city` Nullable(String) comment 'where the interaction occurred',
  `country` Nullable(String) comment 'where the interaction occurred',
  `platform` LowCardinality(Nullable(String)) comment 'where the user was; one of ANDROID, IOS, WEB, OTHER',
  `event_timestamp` DateTime64(3, 'UTC') comment 'when it happened',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE when it came from a recommendation response, null for browsing',
  `recommendation_id` Nullable(UUID) comment 'the recommendation that it came from',
  `accepted_at` DateTime64(3, 'UTC') comment 'when this version was accepted',
  `version` UInt64 comment 'grows with each version of a record'
) sql security invoker as
select `org_id`, `interaction_id`, `recorded_at`, `interaction_type`, `user_id`, `student_id`, `item_type`, `item_id`, `city`, `country`, `platform`, `event_timestamp`, `source`, `recommendation_id`, `accepted_at`, `version`
from weir.interactions_log as log final
comment 'One interaction of a user with a tag, an offer, a shop or a keyword.';

create or replace view weir.rejections on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `rejected_at` DateTime64(3, 'UTC') comment 'when it was refused',
  `type` LowCardinality(String) comment 'the type of the record',
  `index` UInt32 comment 'its place in the request',
  `id` Nullable(String) comment 'what was given as its id',
  `problems` Array(Tuple(field Nullable(String), code String, message String)) comment 'what is wrong with it; the field is null where it is the record as a whole',
  `record` String comment 'the record as it was sent, in JSON; at most 64 KiB of it',
  `truncated` Bool comment 'whether the record was too large to be kept whole'
) sql security invoker as
select `org_id`, `request_id`, `batch_id`, `rejected_at`, `type`, `index`, `id`, `problems`, `record`, `truncated`
from weir.rejections_log final
comment 'refused records: what was sent, and what is wrong with it';

create or replace view weir.waiting on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded it',
  `type` LowCardinality(String) comment 'the type of the record that waits',
  `id` UUID comment 'the id of the record that waits',
  `missing` Array(Tuple(field String, type String, id UUID)) comment 'the records that it waits for: the field that refers to each, its type and its id',
  `since` DateTime64(3, 'UTC') comment 'when it began to wait',
  `until` DateTime64(3, 'UTC') comment 'when it is refused if something is still missing',
  `request_id` UUID comment 'the request that brought it',
  `batch_id` UUID comment 'the batch of that request',
  `index` UInt32 comment 'its place in the request; of an interaction, its place in the batch'
) sql security invoker as
select `org_id`, `type`, `id`, `missing`, `since`, `until`, `request_id`, `batch_id`, `index`
from weir.waiting_log final
where state = 'waiting'
comment 'records that wait for what they refer to';

create or replace view weir.quality on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded them',
  `type` LowCardinality(String) comment 'the type of the records',
  `day` Date comment 'the day on which they were decided, in UTC; of those that wait, the day on which they came',
  `received` UInt64 comment 'records that came in: accepted, refused, waiting and undecided',
  `accepted` UInt64 comment 'records that were accepted, each version of a record for itself',
  `refused` UInt64 comment 'records that were refused; for as long as rejections are kept',
  `top_codes` Array(Tuple(code String, count UInt64)) comment 'the commonest problems: how many refused records have one with this code',
  `last_accepted_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one of that day was accepted',
  `waiting` UInt64 comment 'records that came on that day and still wait for a record that they refer to',
  `undecided` UInt64 comment 'records whose waiting ended on that day without a decision: a newer one of their id came, or somebody cancelled it'
) sql security invoker as
select org_id, type, day, sum(n_accepted) + sum(n_refused) + sum(n_waiting) + sum(n_undecided) as received,
  sum(n_accepted) as accepted, sum(n_refused) as refused,
  arraySlice(arraySort(pair -> (-pair.2, pair.1), arrayZip(mapKeys(sumMap(n_codes)), mapValues(sumMap(n_codes)))), 1, 5) as top_codes,
  max(last) as last_accepted_at, sum(n_waiting) as waiting, sum(n_undecided) as undecided
from (
select org_id, 'shops' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.shops_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'categories' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.categories_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'tags' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.tags_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'keywords' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.keywords_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'institutes' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.institutes_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'courses' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.courses_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'customers' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.customers_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'branches' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.branches_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'offers' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.offers_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'transactions' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.transactions_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'shop-categories' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.shop_categories_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'shop-tags' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.shop_tags_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'shop-keywords' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.shop_keywords_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'student-favourites' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.student_favourites_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, 'interactions' as type, day, sum(n) as n_accepted, toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, max(last) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from (
  select org_id, toDate(accepted_at) as day, batch_id, groupBitmap(toUInt16(version % 8192)) as n, max(toNullable(accepted_at)) as last
  from weir.interactions_log
  group by org_id, day, batch_id, intDiv(version, 8192)
)
group by org_id, day
union all
select org_id, type, toDate(rejected_at) as day, toUInt64(0) as n_accepted, count() as n_refused,
  sumMap(mapFromArrays(arrayDistinct(problems.code), arrayMap(code -> toUInt64(1), arrayDistinct(problems.code)))) as n_codes,
  cast(null as Nullable(DateTime64(3, 'UTC'))) as last, toUInt64(0) as n_waiting, toUInt64(0) as n_undecided
from weir.rejections_log final
where org_id != ''
group by org_id, type, day
union all
select org_id, type, toDate(if(state = 'waiting', since, changed_at)) as day, toUInt64(0) as n_accepted,
  toUInt64(0) as n_refused, cast(map(), 'Map(String, UInt64)') as n_codes, cast(null as Nullable(DateTime64(3, 'UTC'))) as last, countIf(state = 'waiting') as n_waiting, countIf(state != 'waiting') as n_undecided
from weir.waiting_log final
where state in ('waiting', 'superseded', 'cancelled')
group by org_id, type, day
)
group by org_id, type, day
comment 'what came in, by organisation, type and day: accepted, refused, waiting';

create or replace view weir.sales_by_day_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the transactions, in UTC: of when they were created, or else accepted',
  `shop_id` UUID comment 'the shop',
  `region` LowCardinality(String) comment 'the 2-letter country code of the transactions',
  `branch_id` Nullable(UUID) comment 'the branch, null where the transactions name none',
  `source` LowCardinality(Nullable(String)) comment 'where the transactions come from, for example online or in-store; null where they do not say it',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid than without discounts',
  `customers` UInt64 comment 'how many different students bought; transactions without a student_id do not count'
) sql security invoker as
select org_id, day, shop_id, region, branch_id, source, transactions, amount, savings, customers
from (
select org_id, day, shop_id, region, branch_id, source,
  count() as transactions,
  ifNull(sum(amount_exact), 0) as amount,
  ifNull(sum(savings_exact), 0) as savings,
  uniqExact(student_id) as customers
from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'sales_by_day' and law = '950f151e54514bbc' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
group by org_id, day, shop_id, region, branch_id, source
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'sales_by_day' and law = '950f151e54514bbc' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'sales_by_day of all organisations for which no rows are kept; the view sales_by_day shows them';

create or replace table weir.sales_by_day_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the transactions, in UTC: of when they were created, or else accepted',
  `shop_id` UUID comment 'the shop',
  `region` LowCardinality(String) comment 'the 2-letter country code of the transactions',
  `branch_id` Nullable(UUID) comment 'the branch, null where the transactions name none',
  `source` LowCardinality(Nullable(String)) comment 'where the transactions come from, for example online or in-store; null where they do not say it',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid than without discounts',
  `customers` UInt64 comment 'how many different students bought; transactions without a student_id do not count'
) engine = Merge('weir', '^sales_by_day_not_kept$')
comment 'sales_by_day_not_kept, for the view sales_by_day to ask only where it may have a row';

create or replace view weir.sales_by_day on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the transactions, in UTC: of when they were created, or else accepted',
  `shop_id` UUID comment 'the shop',
  `region` LowCardinality(String) comment 'the 2-letter country code of the transactions',
  `branch_id` Nullable(UUID) comment 'the branch, null where the transactions name none',
  `source` LowCardinality(Nullable(String)) comment 'where the transactions come from, for example online or in-store; null where they do not say it',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid than without discounts',
  `customers` UInt64 comment 'how many different students bought; transactions without a student_id do not count'
) sql security invoker as
select org_id, day, shop_id, region, branch_id, source, transactions, amount, savings, customers
from (
select org_id, day, shop_id, region, branch_id, source, transactions, amount, savings, customers
from weir.sales_by_day_kept
where generation in (select generation from weir.marts_kept final where mart = 'sales_by_day' and law = '950f151e54514bbc' and org_id in (select org_id from weir.marts_kept final where mart = 'sales_by_day' and law = '950f151e54514bbc' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, day, shop_id, region, branch_id, source, transactions, amount, savings, customers
from weir.sales_by_day_not_kept_if_any
where _table in (
  select 'sales_by_day_not_kept' from weir.transactions_current where org_id not in (select org_id from weir.marts_kept final where mart = 'sales_by_day' and law = '950f151e54514bbc' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'What was sold, where, and through what. One row: a day, shop, region, branch and source with at least one transaction.';

create or replace view weir.cohorts_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `cohort` Date32 comment 'the first day of the month in which these customers first bought',
  `month` UInt64 comment 'how many months after that: 0 is the same month',
  `customers` UInt64 comment 'how many customers first bought in the month of the cohort',
  `active` UInt64 comment 'how many of them bought in this month',
  `retention` Nullable(Float64) comment 'active as a share of customers',
  `transactions` UInt64 comment 'how many transactions they made in this month',
  `amount` Decimal(38, 9) comment 'how much they paid in this month'
) sql security invoker as
select org_id, cohort, month, customers, active, retention, transactions, amount
from (
select org_id, cohort, toUInt64(dateDiff('month', cohort, bought_in)) as month,
  max(active) over (partition by org_id, cohort) as customers,
  active, active / customers as retention, transactions, amount
from (
  select org_id, cohort, bought_in, uniqExact(student_id) as active, count() as transactions,
    ifNull(sum(amount_exact), 0) as amount
  from (
    select org_id, student_id, amount_exact, toDate32(toStartOfMonth(day)) as bought_in,
      min(bought_in) over (partition by org_id, student_id) as cohort
    from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'cohorts' and law = '80eb4bcf30b54bf6' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
    where student_id is not null
  )
  group by org_id, cohort, bought_in
)
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'cohorts' and law = '80eb4bcf30b54bf6' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'cohorts of all organisations for which no rows are kept; the view cohorts shows them';

create or replace table weir.cohorts_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `cohort` Date32 comment 'the first day of the month in which these customers first bought',
  `month` UInt64 comment 'how many months after that: 0 is the same month',
  `customers` UInt64 comment 'how many customers first bought in the month of the cohort',
  `active` UInt64 comment 'how many of them bought in this month',
  `retention` Nullable(Float64) comment 'active as a share of customers',
  `transactions` UInt64 comment 'how many transactions they made in this month',
  `amount` Decimal(38, 9) comment 'how much they paid in this month'
) engine = Merge('weir', '^cohorts_not_kept$')
comment 'cohorts_not_kept, for the view cohorts to ask only where it may have a row';

create or replace view weir.cohorts on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `cohort` Date32 comment 'the first day of the month in which these customers first bought',
  `month` UInt64 comment 'how many months after that: 0 is the same month',
  `customers` UInt64 comment 'how many customers first bought in the month of the cohort',
  `active` UInt64 comment 'how many of them bought in this month',
  `retention` Nullable(Float64) comment 'active as a share of customers',
  `transactions` UInt64 comment 'how many transactions they made in this month',
  `amount` Decimal(38, 9) comment 'how much they paid in this month'
) sql security invoker as
select org_id, cohort, month, customers, active, retention, transactions, amount
from (
select org_id, cohort, month, customers, active, retention, transactions, amount
from weir.cohorts_kept
where generation in (select generation from weir.marts_kept final where mart = 'cohorts' and law = '80eb4bcf30b54bf6' and org_id in (select org_id from weir.marts_kept final where mart = 'cohorts' and law = '80eb4bcf30b54bf6' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, cohort, month, customers, active, retention, transactions, amount
from weir.cohorts_not_kept_if_any
where _table in (
  select 'cohorts_not_kept' from weir.transactions_current where org_id not in (select org_id from weir.marts_kept final where mart = 'cohorts' and law = '80eb4bcf30b54bf6' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'How many customers who first bought in a month come back in the months after it. One row: a month of first transactions, and a month from then on in which at least one of these customers bought.';

create or replace view weir.offers_used_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `offer_id` UUID comment 'the offer',
  `shop_id` UUID comment 'its shop',
  `name` String comment 'what it is called',
  `type` String comment 'for example percentage or fixed',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_enabled` Nullable(Bool) comment 'whether it is enabled, null where that was not said',
  `views` UInt64 comment 'how often a page of it was viewed',
  `interactions` UInt64 comment 'how many interactions there were with it, views among them',
  `uses` UInt64 comment 'in how many transactions it was used',
  `customers` UInt64 comment 'how many different students used it',
  `amount` Decimal(38, 9) comment 'how much was paid in these transactions',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `share_of_sales` Nullable(Float64) comment 'its transactions as a share of its shop\'s transactions',
  `eligible_branches` UInt64 comment 'the shop\'s branches in which it may be used: those of allowed_branches, or all',
  `branches_used` UInt64 comment 'in how many of these it was used',
  `share_of_eligible` Nullable(Float64) comment 'branches_used as a share of eligible_branches',
  `first_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was first used',
  `last_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was last used'
) sql security invoker as
select org_id, offer_id, shop_id, name, type, region, is_enabled, views, interactions, uses, customers, amount, savings, share_of_sales, eligible_branches, branches_used, share_of_eligible, first_used_at, last_used_at
from (
select org_id, offer_id, shop_id, name, type, region, is_enabled,
  seen.views as views,
  seen.interactions as interactions,
  used.uses as uses,
  used.customers as customers,
  used.amount as amount,
  used.savings as savings,
  uses / nullIf(sold.transactions, 0) as share_of_sales,
  length(eligible) as eligible_branches,
  length(arrayIntersect(eligible, used.branches)) as branches_used,
  branches_used / nullIf(eligible_branches, 0) as share_of_eligible,
  used.first_used_at as first_used_at,
  used.last_used_at as last_used_at
from (
  select org_id, offer_id, shop_id, name, type, region, is_enabled,
    if(empty(allowed), branches.of_shop, arrayIntersect(branches.of_shop, allowed)) as eligible,
    arrayMap(each -> toUUIDOrZero(trim(each)), splitByChar(',', ifNull(allowed_branches, ''))) as given,
    arrayFilter(each -> each != toUUID('00000000-0000-0000-0000-000000000000'), given) as allowed
  from (select *, value_exact from weir.offers_current final where true and not ifNull(is_deleted, false)) as offers
  left join (
    select org_id, shop_id, groupUniqArray(branch_id) as of_shop from (select * from weir.branches_current final where true and not ifNull(is_deleted, false)) group by org_id, shop_id
  ) as branches using (org_id, shop_id)
) as offers
left join (
  select org_id, offer_id, count() as uses, uniqExact(student_id) as customers,
    ifNull(sum(amount_exact), 0) as amount, ifNull(sum(savings_exact), 0) as savings,
    groupUniqArray(branch_id) as branches,
    toNullable(min(bought_at)) as first_used_at, toNullable(max(bought_at)) as last_used_at
  from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
  where offer_id is not null
  group by org_id, offer_id
) as used using (org_id, offer_id)
left join (
  select org_id, shop_id, count() as transactions from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false)) group by org_id, shop_id
) as sold using (org_id, shop_id)
left join (
  select org_id, item_id as offer_id, countIf(interaction_type = 'PAGE_VIEW') as views, count() as interactions
  from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
)
  where item_type = 'OFFER'
  group by org_id, item_id
) as seen using (org_id, offer_id)
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'offers_used of all organisations for which no rows are kept; the view offers_used shows them';

create or replace table weir.offers_used_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `offer_id` UUID comment 'the offer',
  `shop_id` UUID comment 'its shop',
  `name` String comment 'what it is called',
  `type` String comment 'for example percentage or fixed',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_enabled` Nullable(Bool) comment 'whether it is enabled, null where that was not said',
  `views` UInt64 comment 'how often a page of it was viewed',
  `interactions` UInt64 comment 'how many interactions there were with it, views among them',
  `uses` UInt64 comment 'in how many transactions it was used',
  `customers` UInt64 comment 'how many different students used it',
  `amount` Decimal(38, 9) comment 'how much was paid in these transactions',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `share_of_sales` Nullable(Float64) comment 'its transactions as a share of its shop\'s transactions',
  `eligible_branches` UInt64 comment 'the shop\'s branches in which it may be used: those of allowed_branches, or all',
  `branches_used` UInt64 comment 'in how many of these it was used',
  `share_of_eligible` Nullable(Float64) comment 'branches_used as a share of eligible_branches',
  `first_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was first used',
  `last_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was last used'
) engine = Merge('weir', '^offers_used_not_kept$')
comment 'offers_used_not_kept, for the view offers_used to ask only where it may have a row';

create or replace view weir.offers_used on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `offer_id` UUID comment 'the offer',
  `shop_id` UUID comment 'its shop',
  `name` String comment 'what it is called',
  `type` String comment 'for example percentage or fixed',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_enabled` Nullable(Bool) comment 'whether it is enabled, null where that was not said',
  `views` UInt64 comment 'how often a page of it was viewed',
  `interactions` UInt64 comment 'how many interactions there were with it, views among them',
  `uses` UInt64 comment 'in how many transactions it was used',
  `customers` UInt64 comment 'how many different students used it',
  `amount` Decimal(38, 9) comment 'how much was paid in these transactions',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `share_of_sales` Nullable(Float64) comment 'its transactions as a share of its shop\'s transactions',
  `eligible_branches` UInt64 comment 'the shop\'s branches in which it may be used: those of allowed_branches, or all',
  `branches_used` UInt64 comment 'in how many of these it was used',
  `share_of_eligible` Nullable(Float64) comment 'branches_used as a share of eligible_branches',
  `first_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was first used',
  `last_used_at` Nullable(DateTime64(3, 'UTC')) comment 'when it was last used'
) sql security invoker as
select org_id, offer_id, shop_id, name, type, region, is_enabled, views, interactions, uses, customers, amount, savings, share_of_sales, eligible_branches, branches_used, share_of_eligible, first_used_at, last_used_at
from (
select org_id, offer_id, shop_id, name, type, region, is_enabled, views, interactions, uses, customers, amount, savings, share_of_sales, eligible_branches, branches_used, share_of_eligible, first_used_at, last_used_at
from weir.offers_used_kept
where generation in (select generation from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and org_id in (select org_id from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, offer_id, shop_id, name, type, region, is_enabled, views, interactions, uses, customers, amount, savings, share_of_sales, eligible_branches, branches_used, share_of_eligible, first_used_at, last_used_at
from weir.offers_used_not_kept_if_any
where _table in (
  select 'offers_used_not_kept' from weir.offers_current where org_id not in (select org_id from weir.marts_kept final where mart = 'offers_used' and law = '93816586a94f972d' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'Which offers are looked at and used, and what they bring. One row: an offer that is not deleted.';

create or replace view weir.shops_overview_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `shop_id` UUID comment 'the shop',
  `name` String comment 'what it is called',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_public` Nullable(Bool) comment 'whether it is public, null where that was not said',
  `branches` UInt64 comment 'how many branches it has',
  `categories` Array(String) comment 'the names of its categories',
  `tags` Array(String) comment 'the names of its tags',
  `keywords` Array(String) comment 'the names of its keywords',
  `offers` UInt64 comment 'how many offers it has',
  `offers_now` UInt64 comment 'how many of them are enabled and valid at this moment',
  `favourites` UInt64 comment 'how many students have it among their favourites',
  `interactions` UInt64 comment 'how many interactions there were with it and with its offers',
  `transactions` UInt64 comment 'how many transactions were made in it',
  `customers` UInt64 comment 'how many different students bought in it',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was'
) sql security invoker as
select org_id, shop_id, name, region, is_public, branches, categories, tags, keywords, offers, offers_now, favourites, interactions, transactions, customers, amount, savings, first_bought_at, last_bought_at
from (
select org_id, shop_id, shops.name as name, shops.region as region, shops.is_public as is_public,
  branches.count as branches,
  categories.names as categories,
  tags.names as tags,
  keywords.names as keywords,
  offers.count as offers,
  offers.valid as offers_now,
  favourites.count as favourites,
  seen.count as interactions,
  sold.transactions as transactions,
  sold.customers as customers,
  sold.amount as amount,
  sold.savings as savings,
  sold.first_bought_at as first_bought_at,
  sold.last_bought_at as last_bought_at
from (select * from weir.shops_current final where true and not ifNull(is_deleted, false)) as shops
left join (
  select org_id, shop_id, count() as count from (select * from weir.branches_current final where true and not ifNull(is_deleted, false)) group by org_id, shop_id
) as branches using (org_id, shop_id)
left join (
  select org_id, shop_id, count() as count,
    countIf(ifNull(is_enabled, true) and ifNull(allowed_from <= now64(3), true) and ifNull(allowed_to >= now64(3), true)) as valid
  from (select *, value_exact from weir.offers_current final where true and not ifNull(is_deleted, false))
  group by org_id, shop_id
) as offers using (org_id, shop_id)
left join (
  select org_id, shop_id, uniqExact(customer_id) as count from (select * from weir.student_favourites_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false)) group by org_id, shop_id
) as favourites using (org_id, shop_id)
left join (
  select org_id, shop_id, arraySort(groupUniqArray(named.name)) as names
  from (select * from weir.shop_categories_current final where true and not ifNull(is_deleted, false)) as links
  join (select * from weir.categories_current final where true and not ifNull(is_deleted, false)) as named using (org_id, category_id)
  group by org_id, shop_id
) as categories using (org_id, shop_id)
left join (
  select org_id, shop_id, arraySort(groupUniqArray(named.name)) as names
  from (select * from weir.shop_tags_current final where true and not ifNull(is_deleted, false)) as links
  join (select * from weir.tags_current final where true and not ifNull(is_deleted, false)) as named using (org_id, tag_id)
  group by org_id, shop_id
) as tags using (org_id, shop_id)
left join (
  select org_id, shop_id, arraySort(groupUniqArray(named.name)) as names
  from (select * from weir.shop_keywords_current final where true and not ifNull(is_deleted, false)) as links
  join (select * from weir.keywords_current final where true and not ifNull(is_deleted, false)) as named using (org_id, keyword_id)
  group by org_id, shop_id
) as keywords using (org_id, shop_id)
left join (
  select org_id, shop_id, count() as count
  from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
  join (
  select distinct org_id, item_type, item_id, shop_id
  from (
    select org_id, 'SHOP' as item_type, shop_id as item_id, shop_id from (select * from weir.shops_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'OFFER' as item_type, offer_id as item_id, shop_id from (select * from weir.offers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'TAG' as item_type, tag_id as item_id, shop_id from (select * from weir.shop_tags_current final where true and not ifNull(is_deleted, false))
    union all
    select org_id, 'KEYWORD' as item_type, keyword_id as item_id, shop_id from (select * from weir.shop_keywords_current final where true and not ifNull(is_deleted, false))
  )
) as items
    using (org_id, item_type, item_id)
  where item_type in ('SHOP', 'OFFER')
  group by org_id, shop_id
) as seen using (org_id, shop_id)
left join (
  select org_id, shop_id, count() as transactions, uniqExact(student_id) as customers,
    ifNull(sum(amount_exact), 0) as amount, ifNull(sum(savings_exact), 0) as savings,
    toNullable(min(bought_at)) as first_bought_at, toNullable(max(bought_at)) as last_bought_at
  from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
  group by org_id, shop_id
) as sold using (org_id, shop_id)
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'shops_overview of all organisations for which no rows are kept; the view shops_overview shows them';

create or replace table weir.shops_overview_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `shop_id` UUID comment 'the shop',
  `name` String comment 'what it is called',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_public` Nullable(Bool) comment 'whether it is public, null where that was not said',
  `branches` UInt64 comment 'how many branches it has',
  `categories` Array(String) comment 'the names of its categories',
  `tags` Array(String) comment 'the names of its tags',
  `keywords` Array(String) comment 'the names of its keywords',
  `offers` UInt64 comment 'how many offers it has',
  `offers_now` UInt64 comment 'how many of them are enabled and valid at this moment',
  `favourites` UInt64 comment 'how many students have it among their favourites',
  `interactions` UInt64 comment 'how many interactions there were with it and with its offers',
  `transactions` UInt64 comment 'how many transactions were made in it',
  `customers` UInt64 comment 'how many different students bought in it',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was'
) engine = Merge('weir', '^shops_overview_not_kept$')
comment 'shops_overview_not_kept, for the view shops_overview to ask only where it may have a row';

create or replace view weir.shops_overview on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `shop_id` UUID comment 'the shop',
  `name` String comment 'what it is called',
  `region` LowCardinality(String) comment 'its 2-letter country code',
  `is_public` Nullable(Bool) comment 'whether it is public, null where that was not said',
  `branches` UInt64 comment 'how many branches it has',
  `categories` Array(String) comment 'the names of its categories',
  `tags` Array(String) comment 'the names of its tags',
  `keywords` Array(String) comment 'the names of its keywords',
  `offers` UInt64 comment 'how many offers it has',
  `offers_now` UInt64 comment 'how many of them are enabled and valid at this moment',
  `favourites` UInt64 comment 'how many students have it among their favourites',
  `interactions` UInt64 comment 'how many interactions there were with it and with its offers',
  `transactions` UInt64 comment 'how many transactions were made in it',
  `customers` UInt64 comment 'how many different students bought in it',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was'
) sql security invoker as
select org_id, shop_id, name, region, is_public, branches, categories, tags, keywords, offers, offers_now, favourites, interactions, transactions, customers, amount, savings, first_bought_at, last_bought_at
from (
select org_id, shop_id, name, region, is_public, branches, categories, tags, keywords, offers, offers_now, favourites, interactions, transactions, customers, amount, savings, first_bought_at, last_bought_at
from weir.shops_overview_kept
where generation in (select generation from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and org_id in (select org_id from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, shop_id, name, region, is_public, branches, categories, tags, keywords, offers, offers_now, favourites, interactions, transactions, customers, amount, savings, first_bought_at, last_bought_at
from weir.shops_overview_not_kept_if_any
where _table in (
  select 'shops_overview_not_kept' from weir.shops_current where org_id not in (select org_id from weir.marts_kept final where mart = 'shops_overview' and law = 'aaf69f146d28ce9e' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'Everything about a shop on one line: what it has, what it sold, who looked at it. One row: a shop that is not deleted.';

create or replace view weir.customers_overview_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `user_id` UUID comment 'the user that the customer is',
  `region` LowCardinality(String) comment 'the 2-letter country code of the customer',
  `gender` Nullable(String) comment 'as the organisation records it',
  `age_band` Nullable(String) comment 'how old the customer is today, in bands; null without a birthdate',
  `institute_id` Nullable(UUID) comment 'the educational institute',
  `institute` Nullable(String) comment 'what it is called',
  `course_id` Nullable(UUID) comment 'the course',
  `course` Nullable(String) comment 'what it is called',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made; null where there is none',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `shops` UInt64 comment 'in how many different shops',
  `top_shops` Array(UUID) comment 'the shops with the most transactions of this customer, the first first; at most 5',
  `favourite_shops` Array(UUID) comment 'the shops among the favourites of this customer',
  `tags` Array(String) comment 'the names of the tags of shops that this customer bought in, the commonest first',
  `keywords` Array(String) comment 'the names of the keywords of these shops, the commonest first'
) sql security invoker as
select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course, first_bought_at, last_bought_at, transactions, amount, savings, shops, top_shops, favourite_shops, tags, keywords
from (
select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course,
  sold.first_bought_at as first_bought_at,
  sold.last_bought_at as last_bought_at,
  sold.transactions as transactions,
  sold.amount as amount,
  sold.savings as savings,
  length(sold.by_shop) as shops,
  arraySlice(arrayMap(each -> each.2, arraySort(each -> (-each.1, each.2), sold.by_shop)), 1, 5) as top_shops,
  favourites.shops as favourite_shops,
  arrayMap(each -> each.2, arraySort(each -> (-each.1, each.2), arrayZip(sold.by_tag.2, sold.by_tag.1))) as tags,
  arrayMap(each -> each.2, arraySort(each -> (-each.1, each.2), arrayZip(sold.by_keyword.2, sold.by_keyword.1))) as keywords
from (
  select org_id, customer_id, user_id, customers.region as region, gender,
    institute_id, nullIf(institutes.name, '') as institute, course_id, nullIf(courses.name, '') as course,
    multiIf(birthdate is null, null, age('year', birthdate, today()) < 18, 'under 18', age('year', birthdate, today()) < 21, '18 to 20', age('year', birthdate, today()) < 25, '21 to 24', age('year', birthdate, today()) < 30, '25 to 29', age('year', birthdate, today()) < 40, '30 to 39', '40 and over') as age_band
  from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false)) as customers
  left join (select * from weir.institutes_current final where true and not ifNull(is_deleted, false)) as institutes using (org_id, institute_id)
  left join (select * from weir.courses_current final where true and not ifNull(is_deleted, false)) as courses using (org_id, course_id)
) as customers
left join (
  select org_id, customer_id, toNullable(min(first)) as first_bought_at, toNullable(max(last)) as last_bought_at,
    sum(bought) as transactions, sum(paid) as amount, sum(saved) as savings, groupArray((bought, shop_id)) as by_shop,
    sumMap(tags.names, arrayMap(each -> bought, tags.names)) as by_tag,
    sumMap(keywords.names, arrayMap(each -> bought, keywords.names)) as by_keyword
  from (
    select org_id, assumeNotNull(student_id) as customer_id, shop_id, count() as bought, min(bought_at) as first, max(bought_at) as last,
      ifNull(sum(amount_exact), 0) as paid, ifNull(sum(savings_exact), 0) as saved
    from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
    where student_id is not null
    group by org_id, customer_id, shop_id
  ) as by_shop
  left join (
  select org_id, shop_id, groupUniqArray(named.name) as names
  from (select * from weir.shop_tags_current final where true and not ifNull(is_deleted, false)) as links
  join (select * from weir.tags_current final where true and not ifNull(is_deleted, false)) as named using (org_id, tag_id)
  group by org_id, shop_id
) as tags using (org_id, shop_id)
  left join (
  select org_id, shop_id, groupUniqArray(named.name) as names
  from (select * from weir.shop_keywords_current final where true and not ifNull(is_deleted, false)) as links
  join (select * from weir.keywords_current final where true and not ifNull(is_deleted, false)) as named using (org_id, keyword_id)
  group by org_id, shop_id
) as keywords using (org_id, shop_id)
  group by org_id, customer_id
) as sold using (org_id, customer_id)
left join (
  select org_id, customer_id, arraySort(groupUniqArray(shop_id)) as shops from (select * from weir.student_favourites_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false)) group by org_id, customer_id
) as favourites using (org_id, customer_id)
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'customers_overview of all organisations for which no rows are kept; the view customers_overview shows them';

create or replace table weir.customers_overview_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `user_id` UUID comment 'the user that the customer is',
  `region` LowCardinality(String) comment 'the 2-letter country code of the customer',
  `gender` Nullable(String) comment 'as the organisation records it',
  `age_band` Nullable(String) comment 'how old the customer is today, in bands; null without a birthdate',
  `institute_id` Nullable(UUID) comment 'the educational institute',
  `institute` Nullable(String) comment 'what it is called',
  `course_id` Nullable(UUID) comment 'the course',
  `course` Nullable(String) comment 'what it is called',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made; null where there is none',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `shops` UInt64 comment 'in how many different shops',
  `top_shops` Array(UUID) comment 'the shops with the most transactions of this customer, the first first; at most 5',
  `favourite_shops` Array(UUID) comment 'the shops among the favourites of this customer',
  `tags` Array(String) comment 'the names of the tags of shops that this customer bought in, the commonest first',
  `keywords` Array(String) comment 'the names of the keywords of these shops, the commonest first'
) engine = Merge('weir', '^customers_overview_not_kept$')
comment 'customers_overview_not_kept, for the view customers_overview to ask only where it may have a row';

create or replace view weir.customers_overview on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `user_id` UUID comment 'the user that the customer is',
  `region` LowCardinality(String) comment 'the 2-letter country code of the customer',
  `gender` Nullable(String) comment 'as the organisation records it',
  `age_band` Nullable(String) comment 'how old the customer is today, in bands; null without a birthdate',
  `institute_id` Nullable(UUID) comment 'the educational institute',
  `institute` Nullable(String) comment 'what it is called',
  `course_id` Nullable(UUID) comment 'the course',
  `course` Nullable(String) comment 'what it is called',
  `first_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the first transaction was made; null where there is none',
  `last_bought_at` Nullable(DateTime64(3, 'UTC')) comment 'when the last one was',
  `transactions` UInt64 comment 'how many transactions',
  `amount` Decimal(38, 9) comment 'how much was paid',
  `savings` Decimal(38, 9) comment 'how much less was paid',
  `shops` UInt64 comment 'in how many different shops',
  `top_shops` Array(UUID) comment 'the shops with the most transactions of this customer, the first first; at most 5',
  `favourite_shops` Array(UUID) comment 'the shops among the favourites of this customer',
  `tags` Array(String) comment 'the names of the tags of shops that this customer bought in, the commonest first',
  `keywords` Array(String) comment 'the names of the keywords of these shops, the commonest first'
) sql security invoker as
select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course, first_bought_at, last_bought_at, transactions, amount, savings, shops, top_shops, favourite_shops, tags, keywords
from (
select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course, first_bought_at, last_bought_at, transactions, amount, savings, shops, top_shops, favourite_shops, tags, keywords
from weir.customers_overview_kept
where generation in (select generation from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and org_id in (select org_id from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course, first_bought_at, last_bought_at, transactions, amount, savings, shops, top_shops, favourite_shops, tags, keywords
from weir.customers_overview_not_kept_if_any
where _table in (
  select 'customers_overview_not_kept' from weir.customers_current where org_id not in (select org_id from weir.marts_kept final where mart = 'customers_overview' and law = '6cd585acf3eb9e5d' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'Everything about a customer on one line: who they are, what they bought, what they like. One row: a customer who is not deleted.';

create or replace view weir.customers_by_attribute_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `attribute` LowCardinality(String) comment 'region, institute, course, age_band, gender, tag or keyword; the last two of shops that a customer bought in',
  `value` String comment 'its value',
  `customers` UInt64 comment 'how many customers have it',
  `buyers` UInt64 comment 'how many of them have bought something',
  `transactions` UInt64 comment 'how many transactions they made, in all shops',
  `amount` Decimal(38, 9) comment 'how much they paid',
  `savings` Decimal(38, 9) comment 'how much less they paid'
) sql security invoker as
select org_id, attribute, value, customers, buyers, transactions, amount, savings
from (
select org_id, pair.1 as attribute, assumeNotNull(pair.2) as value,
  count() as customers,
  countIf(overview.transactions > 0) as buyers,
  sum(overview.transactions) as transactions,
  sum(overview.amount) as amount,
  sum(overview.savings) as savings
from (select * from weir.customers_overview where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_by_attribute' and law = '9c2cc41f05940ed8' and part = -2147483648 and kept_at > now() - interval 1 day)) as overview
array join arrayConcat(
  [('region', toNullable(toString(region))), ('institute', institute), ('course', course), ('age_band', age_band), ('gender', gender)],
  arrayMap(each -> ('tag', toNullable(each)), tags),
  arrayMap(each -> ('keyword', toNullable(each)), keywords)
) as pair
where pair.2 is not null
group by org_id, attribute, value
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customers_by_attribute' and law = '9c2cc41f05940ed8' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'customers_by_attribute of all organisations for which no rows are kept; the view customers_by_attribute shows them';

create or replace table weir.customers_by_attribute_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `attribute` LowCardinality(String) comment 'region, institute, course, age_band, gender, tag or keyword; the last two of shops that a customer bought in',
  `value` String comment 'its value',
  `customers` UInt64 comment 'how many customers have it',
  `buyers` UInt64 comment 'how many of them have bought something',
  `transactions` UInt64 comment 'how many transactions they made, in all shops',
  `amount` Decimal(38, 9) comment 'how much they paid',
  `savings` Decimal(38, 9) comment 'how much less they paid'
) engine = Merge('weir', '^customers_by_attribute_not_kept$')
comment 'customers_by_attribute_not_kept, for the view customers_by_attribute to ask only where it may have a row';

create or replace view weir.customers_by_attribute on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `attribute` LowCardinality(String) comment 'region, institute, course, age_band, gender, tag or keyword; the last two of shops that a customer bought in',
  `value` String comment 'its value',
  `customers` UInt64 comment 'how many customers have it',
  `buyers` UInt64 comment 'how many of them have bought something',
  `transactions` UInt64 comment 'how many transactions they made, in all shops',
  `amount` Decimal(38, 9) comment 'how much they paid',
  `savings` Decimal(38, 9) comment 'how much less they paid'
) sql security invoker as
select org_id, attribute, value, customers, buyers, transactions, amount, savings
from (
select org_id, attribute, value, customers, buyers, transactions, amount, savings
from weir.customers_by_attribute_kept
where generation in (select generation from weir.marts_kept final where mart = 'customers_by_attribute' and law = '9c2cc41f05940ed8' and org_id in (select org_id from weir.marts_kept final where mart = 'customers_by_attribute' and law = '9c2cc41f05940ed8' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, attribute, value, customers, buyers, transactions, amount, savings
from weir.customers_by_attribute_not_kept_if_any
where _table in (
  select 'customers_by_attribute_not_kept' from weir.customers_current where org_id not in (select org_id from weir.marts_kept final where mart = 'customers_by_attribute' and law = '9c2cc41f05940ed8' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'Segments by what customers are and where they buy: how many there are, and what they buy. One row: an attribute and one of its values that at least one customer has.';

create or replace view weir.customer_segments_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `recency_days` Int64 comment 'how many days ago the last transaction was made, counted in days of UTC',
  `frequency` UInt64 comment 'how many transactions',
  `monetary` Decimal(38, 9) comment 'how much was paid',
  `r` UInt8 comment '5 for the fifth of customers who bought last, 1 for those whose last transaction is longest ago',
  `f` UInt8 comment '5 for the fifth with the most transactions',
  `m` UInt8 comment '5 for the fifth who paid most'
) sql security invoker as
select org_id, customer_id, segment, recency_days, frequency, monetary, r, f, m
from (
select org_id, customer_id, segment, recency_days, frequency, monetary, r, f, m
from (
  select org_id, customer_id, frequency, monetary,
    dateDiff('day', toDate32(last_bought_at), toDate32(now64(3))) as recency_days,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by recency_days desc) - 1), count() over (partition by org_id))) as r,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by frequency) - 1), count() over (partition by org_id))) as f,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by monetary) - 1), count() over (partition by org_id))) as m,
    toLowCardinality(multiIf(r >= 4 and f >= 4 and m >= 4, 'champions', r >= 3 and f >= 4, 'loyal', r <= 2 and f >= 3, 'at risk', r >= 4 and f <= 2, 'new', r >= 3 and f = 3, 'promising', r >= 2, 'fading', 'lost')) as segment
  from (
  select org_id, customer_id, sold.last_bought_at as last_bought_at, sold.frequency as frequency, sold.monetary as monetary
  from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false)) as customers
  join (
    select org_id, assumeNotNull(student_id) as customer_id, max(bought_at) as last_bought_at, count() as frequency,
      ifNull(sum(amount_exact), 0) as monetary
    from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
    where student_id is not null and bought_at <= now64(3)
    group by org_id, customer_id
  ) as sold using (org_id, customer_id)
)
)
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'customer_segments of all organisations for which no rows are kept; the view customer_segments shows them';

create or replace table weir.customer_segments_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `recency_days` Int64 comment 'how many days ago the last transaction was made, counted in days of UTC',
  `frequency` UInt64 comment 'how many transactions',
  `monetary` Decimal(38, 9) comment 'how much was paid',
  `r` UInt8 comment '5 for the fifth of customers who bought last, 1 for those whose last transaction is longest ago',
  `f` UInt8 comment '5 for the fifth with the most transactions',
  `m` UInt8 comment '5 for the fifth who paid most'
) engine = Merge('weir', '^customer_segments_not_kept$')
comment 'customer_segments_not_kept, for the view customer_segments to ask only where it may have a row';

create or replace view weir.customer_segments on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `customer_id` UUID comment 'the customer',
  `segment` LowCardinality(String) comment 'the name of the segment',
  `recency_days` Int64 comment 'how many days ago the last transaction was made, counted in days of UTC',
  `frequency` UInt64 comment 'how many transactions',
  `monetary` Decimal(38, 9) comment 'how much was paid',
  `r` UInt8 comment '5 for the fifth of customers who bought last, 1 for those whose last transaction is longest ago',
  `f` UInt8 comment '5 for the fifth with the most transactions',
  `m` UInt8 comment '5 for the fifth who paid most'
) sql security invoker as
select org_id, customer_id, segment, recency_days, frequency, monetary, r, f, m
from (
select org_id, customer_id, segment, recency_days, frequency, monetary, r, f, m
from weir.customer_segments_kept
where generation in (select generation from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and org_id in (select org_id from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, customer_id, segment, recency_days, frequency, monetary, r, f, m
from weir.customer_segments_not_kept_if_any
where _table in (
  select 'customer_segments_not_kept' from weir.customers_current where org_id not in (select org_id from weir.marts_kept final where mart = 'customer_segments' and law = 'be038790905661c3' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'Customers by recency, frequency and monetary value, in segments with names. One row: a customer who is not deleted and has bought something.';

create or replace view weir.segment_members on cluster `weir` sql security invoker as
select org_id, customer_id, toLowCardinality({name:String}) as segment, recency_days, frequency, monetary, r, f, m
from (
  select org_id, customer_id, frequency, monetary,
    dateDiff('day', toDate32(last_bought_at), toDate32(parseDateTime64BestEffort({at:String}, 3, 'UTC'))) as recency_days,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by recency_days desc) - 1), count() over (partition by org_id))) as r,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by frequency) - 1), count() over (partition by org_id))) as f,
    toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by monetary) - 1), count() over (partition by org_id))) as m,
    toLowCardinality(multiIf(r >= 4 and f >= 4 and m >= 4, 'champions', r >= 3 and f >= 4, 'loyal', r <= 2 and f >= 3, 'at risk', r >= 4 and f <= 2, 'new', r >= 3 and f = 3, 'promising', r >= 2, 'fading', 'lost')) as segment
  from (
  select org_id, customer_id, sold.last_bought_at as last_bought_at, sold.frequency as frequency, sold.monetary as monetary
  from weir.customers_as_of(at = {at:String}) as customers
  join (
    select org_id, assumeNotNull(student_id) as customer_id, max(bought_at) as last_bought_at, count() as frequency,
      ifNull(sum(amount_exact), 0) as monetary
    from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from weir.transactions_as_of(at = {at:String})
)
    where student_id is not null and bought_at <= parseDateTime64BestEffort({at:String}, 3, 'UTC')
    group by org_id, customer_id
  ) as sold using (org_id, customer_id)
)
) as scored
full join (
  select org_id, customer_id, true as is_own
  from weir.own_members_log final
  where segment = {name:String} and since <= parseDateTime64BestEffort({at:String}, 3, 'UTC') and until > parseDateTime64BestEffort({at:String}, 3, 'UTC')
  group by org_id, customer_id
) as own using (org_id, customer_id)
where scored.segment = {name:String} or is_own
comment 'The customers of one segment at a moment, to be exported, or compared with those of another day. An organisation\'s own segment is asked for by its name, too. One row: a customer who was in the segment at that moment.';

create or replace view weir.own_segments on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `segment` LowCardinality(String) comment 'its name',
  `version` UInt64 comment 'how often its condition was set',
  `condition` String comment 'who is in it, by the columns of customers_overview and of customer_segments',
  `about` String comment 'what it is for',
  `created_at` DateTime64(3, 'UTC') comment 'since when it has this condition'
) sql security invoker as
select org_id, segment, version, condition, about, created_at
from (
select org_id, segment, newest.1 as version, newest.2 as condition, newest.3 as about, newest.4 as created_at
from (
  select org_id, segment, argMax((version, condition, about, created_at, is_dropped), version) as newest
  from weir.own_segments_log final
  group by org_id, segment
)
where not newest.5
)
comment 'The segments that an organisation has made for itself. Who is in one: segment_members. One row: a segment that is not dropped.';

create or replace view weir.segment_sizes on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day, in UTC; it is counted soon after its beginning',
  `segment` LowCardinality(String) comment 'the segment',
  `version` UInt64 comment 'of an own one, how often its condition had been set by then; 0 for those that Weir names',
  `members` UInt64 comment 'how many customers were in it'
) sql security invoker as
select org_id, day, segment, version, members
from (
select org_id, toDate32(at) as day, segment, argMax(log.version, at) as version, argMax(log.members, at) as members
from weir.segment_sizes_log as log
group by org_id, day, segment
)
comment 'How many customers were in each segment, day by day: in those that Weir names, and in own ones. One row: a segment and a day on which it was counted.';

create or replace view weir.recommendations_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE where they came from a recommendation, null for browsing',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) sql security invoker as
select org_id, day, item_type, platform, country, source, interactions, followed, bought_1d, bought_7d, bought_30d
from (
select org_id, day, item_type, platform, country, source,
  count() as interactions,
  countIf(is_followed) as followed,
  countIf(ifNull(bought_after_ms <= 1 * 86400000, false)) as bought_1d,
  countIf(ifNull(bought_after_ms <= 7 * 86400000, false)) as bought_7d,
  countIf(ifNull(bought_after_ms <= 30 * 86400000, false)) as bought_30d
from (
  select org_id, interaction_id, seen.day as day, seen.item_type as item_type, seen.platform as platform, seen.country as country,
    seen.source as source, seen.recommendation_id as recommendation_id,
    ifNull(seen.next_at <= seen.seen_at + interval 1 day, false) as is_followed,
    bought.after_ms as bought_after_ms
  from (
    select seen.*, next.next_at as next_at
    from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
    asof left join (
      select org_id, person, item_type, item_id, seen_at, toNullable(seen_at) as next_at from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
)
    ) as next
      on next.org_id = seen.org_id and next.person = seen.person and next.item_type = seen.item_type
        and next.item_id = seen.item_id and next.seen_at > seen.seen_at
  ) as seen
  left join (
    select reached.org_id as org_id, interaction_id,
      toNullable(min(dateDiff('millisecond', reached.seen_at, bought.bought_at))) as after_ms
    from (
      select org_id, interaction_id, seen_at, assumeNotNull(customer_id) as customer_id, items.shop_id as shop_id
      from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
      join (
  select distinct org_id, item_type, item_id, shop_id
  from (
    select org_id, 'SHOP' as item_type, shop_id as item_id, shop_id from (select * from weir.shops_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'OFFER' as item_type, offer_id as item_id, shop_id from (select * from weir.offers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'TAG' as item_type, tag_id as item_id, shop_id from (select * from weir.shop_tags_current final where true and not ifNull(is_deleted, false))
    union all
    select org_id, 'KEYWORD' as item_type, keyword_id as item_id, shop_id from (select * from weir.shop_keywords_current final where true and not ifNull(is_deleted, false))
  )
) as items using (org_id, item_type, item_id)
      where seen.customer_id is not null
    ) as reached
    asof join (
      select org_id, assumeNotNull(student_id) as customer_id, shop_id, bought_at from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
) where student_id is not null
    ) as bought
      on bought.org_id = reached.org_id and bought.customer_id = reached.customer_id and bought.shop_id = reached.shop_id
        and bought.bought_at >= reached.seen_at
    group by org_id, interaction_id
  ) as bought using (org_id, interaction_id)
)
group by org_id, day, item_type, platform, country, source
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'recommendations of all organisations for which no rows are kept; the view recommendations shows them';

create or replace table weir.recommendations_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE where they came from a recommendation, null for browsing',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) engine = Merge('weir', '^recommendations_not_kept$')
comment 'recommendations_not_kept, for the view recommendations to ask only where it may have a row';

create or replace view weir.recommendations on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `source` LowCardinality(Nullable(String)) comment 'SERVICE where they came from a recommendation, null for browsing',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) sql security invoker as
select org_id, day, item_type, platform, country, source, interactions, followed, bought_1d, bought_7d, bought_30d
from (
select org_id, day, item_type, platform, country, source, interactions, followed, bought_1d, bought_7d, bought_30d
from weir.recommendations_kept
where generation in (select generation from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and org_id in (select org_id from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, day, item_type, platform, country, source, interactions, followed, bought_1d, bought_7d, bought_30d
from weir.recommendations_not_kept_if_any
where _table in (
  select 'recommendations_not_kept' from weir.interactions_log where org_id not in (select org_id from weir.marts_kept final where mart = 'recommendations' and law = 'aeb408e3f6a42443' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'What came of interactions that a recommendation brought (source SERVICE), and of all others. One row: a day, kind of item, platform, country and source with at least one interaction.';

create or replace view weir.recommendations_by_id_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `recommendation_id` UUID comment 'the recommendation',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `first_day` Date32 comment 'the day of the first interaction that it brought, in UTC',
  `last_day` Date32 comment 'the day of the last one',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) sql security invoker as
select org_id, recommendation_id, item_type, first_day, last_day, interactions, followed, bought_1d, bought_7d, bought_30d
from (
select org_id, assumeNotNull(recommendation_id) as recommendation_id, item_type, min(day) as first_day, max(day) as last_day,
  count() as interactions,
  countIf(is_followed) as followed,
  countIf(ifNull(bought_after_ms <= 1 * 86400000, false)) as bought_1d,
  countIf(ifNull(bought_after_ms <= 7 * 86400000, false)) as bought_7d,
  countIf(ifNull(bought_after_ms <= 30 * 86400000, false)) as bought_30d
from (
  select org_id, interaction_id, seen.day as day, seen.item_type as item_type, seen.platform as platform, seen.country as country,
    seen.source as source, seen.recommendation_id as recommendation_id,
    ifNull(seen.next_at <= seen.seen_at + interval 1 day, false) as is_followed,
    bought.after_ms as bought_after_ms
  from (
    select seen.*, next.next_at as next_at
    from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
    asof left join (
      select org_id, person, item_type, item_id, seen_at, toNullable(seen_at) as next_at from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
)
    ) as next
      on next.org_id = seen.org_id and next.person = seen.person and next.item_type = seen.item_type
        and next.item_id = seen.item_id and next.seen_at > seen.seen_at
  ) as seen
  left join (
    select reached.org_id as org_id, interaction_id,
      toNullable(min(dateDiff('millisecond', reached.seen_at, bought.bought_at))) as after_ms
    from (
      select org_id, interaction_id, seen_at, assumeNotNull(customer_id) as customer_id, items.shop_id as shop_id
      from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
      join (
  select distinct org_id, item_type, item_id, shop_id
  from (
    select org_id, 'SHOP' as item_type, shop_id as item_id, shop_id from (select * from weir.shops_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'OFFER' as item_type, offer_id as item_id, shop_id from (select * from weir.offers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day))
    union all
    select org_id, 'TAG' as item_type, tag_id as item_id, shop_id from (select * from weir.shop_tags_current final where true and not ifNull(is_deleted, false))
    union all
    select org_id, 'KEYWORD' as item_type, keyword_id as item_id, shop_id from (select * from weir.shop_keywords_current final where true and not ifNull(is_deleted, false))
  )
) as items using (org_id, item_type, item_id)
      where seen.customer_id is not null
    ) as reached
    asof join (
      select org_id, assumeNotNull(student_id) as customer_id, shop_id, bought_at from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
) where student_id is not null
    ) as bought
      on bought.org_id = reached.org_id and bought.customer_id = reached.customer_id and bought.shop_id = reached.shop_id
        and bought.bought_at >= reached.seen_at
    group by org_id, interaction_id
  ) as bought using (org_id, interaction_id)
) as outcomes
where outcomes.recommendation_id is not null
group by org_id, recommendation_id, item_type
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'recommendations_by_id of all organisations for which no rows are kept; the view recommendations_by_id shows them';

create or replace table weir.recommendations_by_id_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `recommendation_id` UUID comment 'the recommendation',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `first_day` Date32 comment 'the day of the first interaction that it brought, in UTC',
  `last_day` Date32 comment 'the day of the last one',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) engine = Merge('weir', '^recommendations_by_id_not_kept$')
comment 'recommendations_by_id_not_kept, for the view recommendations_by_id to ask only where it may have a row';

create or replace view weir.recommendations_by_id on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `recommendation_id` UUID comment 'the recommendation',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `first_day` Date32 comment 'the day of the first interaction that it brought, in UTC',
  `last_day` Date32 comment 'the day of the last one',
  `interactions` UInt64 comment 'how many interactions',
  `followed` UInt64 comment 'after how many of them the same person did something with the same item within a day',
  `bought_1d` UInt64 comment 'after how many of them the same student bought in a shop of the item within a day',
  `bought_7d` UInt64 comment 'the same, within 7 days',
  `bought_30d` UInt64 comment 'the same, within 30 days'
) sql security invoker as
select org_id, recommendation_id, item_type, first_day, last_day, interactions, followed, bought_1d, bought_7d, bought_30d
from (
select org_id, recommendation_id, item_type, first_day, last_day, interactions, followed, bought_1d, bought_7d, bought_30d
from weir.recommendations_by_id_kept
where generation in (select generation from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and org_id in (select org_id from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, recommendation_id, item_type, first_day, last_day, interactions, followed, bought_1d, bought_7d, bought_30d
from weir.recommendations_by_id_not_kept_if_any
where _table in (
  select 'recommendations_by_id_not_kept' from weir.interactions_log where org_id not in (select org_id from weir.marts_kept final where mart = 'recommendations_by_id' and law = '82a60b0ec20b48c7' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'What came of each recommendation. One row: a recommendation and the kind of item that it led to.';

create or replace view weir.recommendation_lift on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where the interactions occurred; null where it was not said',
  `within_days` UInt64 comment 'within how many days after the interaction a purchase counts: 1, 7 or 30',
  `recommended` UInt64 comment 'how many interactions came from a recommendation',
  `recommended_bought` UInt64 comment 'after how many of them the same student bought in a shop of the item',
  `others` UInt64 comment 'how many interactions did not',
  `others_bought` UInt64 comment 'after how many of these the same student bought',
  `recommended_share` Nullable(Float64) comment 'recommended_bought as a share of recommended',
  `others_share` Nullable(Float64) comment 'others_bought as a share of others',
  `lift` Nullable(Float64) comment 'recommended_share divided by others_share; null where one of them is 0 or missing',
  `lift_low` Nullable(Float64) comment 'the lift is at least this, with a probability of 97.5 %',
  `lift_high` Nullable(Float64) comment 'the lift is at most this, with a probability of 97.5 %'
) sql security invoker as
select org_id, item_type, platform, country, within_days, recommended, recommended_bought, others, others_bought, recommended_share, others_share, lift, lift_low, lift_high
from (
select org_id, item_type, platform, country, toUInt64(pair.1) as within_days,
  sumIf(interactions, source is not null) as recommended,
  sumIf(pair.2, source is not null) as recommended_bought,
  sumIf(interactions, source is null) as others,
  sumIf(pair.2, source is null) as others_bought,
  recommended_bought / nullIf(recommended, 0) as recommended_share,
  others_bought / nullIf(others, 0) as others_share,
  nullIf(recommended_share, 0) / nullIf(others_share, 0) as lift,
  1.96 * sqrt((1 - recommended_share) / nullIf(recommended_bought, 0) + (1 - others_share) / nullIf(others_bought, 0)) as margin,
  lift * exp(-margin) as lift_low,
  lift * exp(margin) as lift_high
from weir.recommendations
array join [(1, bought_1d), (7, bought_7d), (30, bought_30d)] as pair
group by org_id, item_type, platform, country, within_days
)
comment 'How much likelier a purchase is after a recommended interaction than after any other, and how sure that is. One row: a kind of item, platform, country and number of days; all days of interactions together.';

create or replace view weir.interactions_by_day_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `item_id` UUID comment 'the item',
  `interaction_type` LowCardinality(String) comment 'FILTER_CLICK, SHARE, PAGE_VIEW or DISCOUNT_CODE',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `interactions` UInt64 comment 'how many interactions',
  `recommended` UInt64 comment 'how many of them came from a recommendation',
  `persons` UInt64 comment 'how many different customers or else users; interactions without either do not count'
) sql security invoker as
select org_id, day, item_type, item_id, interaction_type, platform, country, interactions, recommended, persons
from (
select org_id, day, item_type, item_id, interaction_type, platform, country,
  count() as interactions,
  countIf(source is not null) as recommended,
  uniqExact(person) as persons
from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
)
group by org_id, day, item_type, item_id, interaction_type, platform, country
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'interactions_by_day of all organisations for which no rows are kept; the view interactions_by_day shows them';

create or replace table weir.interactions_by_day_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `item_id` UUID comment 'the item',
  `interaction_type` LowCardinality(String) comment 'FILTER_CLICK, SHARE, PAGE_VIEW or DISCOUNT_CODE',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `interactions` UInt64 comment 'how many interactions',
  `recommended` UInt64 comment 'how many of them came from a recommendation',
  `persons` UInt64 comment 'how many different customers or else users; interactions without either do not count'
) engine = Merge('weir', '^interactions_by_day_not_kept$')
comment 'interactions_by_day_not_kept, for the view interactions_by_day to ask only where it may have a row';

create or replace view weir.interactions_by_day on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day of the interactions, in UTC',
  `item_type` LowCardinality(String) comment 'TAG, OFFER, SHOP or KEYWORD',
  `item_id` UUID comment 'the item',
  `interaction_type` LowCardinality(String) comment 'FILTER_CLICK, SHARE, PAGE_VIEW or DISCOUNT_CODE',
  `platform` LowCardinality(Nullable(String)) comment 'ANDROID, IOS, WEB or OTHER; null where it was not said',
  `country` LowCardinality(Nullable(String)) comment 'where they occurred; null where it was not said',
  `interactions` UInt64 comment 'how many interactions',
  `recommended` UInt64 comment 'how many of them came from a recommendation',
  `persons` UInt64 comment 'how many different customers or else users; interactions without either do not count'
) sql security invoker as
select org_id, day, item_type, item_id, interaction_type, platform, country, interactions, recommended, persons
from (
select org_id, day, item_type, item_id, interaction_type, platform, country, interactions, recommended, persons
from weir.interactions_by_day_kept
where generation in (select generation from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and org_id in (select org_id from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, day, item_type, item_id, interaction_type, platform, country, interactions, recommended, persons
from weir.interactions_by_day_not_kept_if_any
where _table in (
  select 'interactions_by_day_not_kept' from weir.interactions_log where org_id not in (select org_id from weir.marts_kept final where mart = 'interactions_by_day' and law = 'e35e32d1438381b1' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'What people look at, share and use, where and on what. One row: a day, item, kind of interaction, platform and country with at least one interaction.';

create or replace view weir.funnel_not_kept on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day on which the shop was viewed, in UTC',
  `shop_id` UUID comment 'the shop',
  `viewed` UInt64 comment 'how many different persons viewed a page of the shop',
  `went_to_offer` UInt64 comment 'how many of them did something with an offer of the shop within 30 days after that',
  `bought` UInt64 comment 'how many of these bought in the shop within 30 days after that',
  `bought_at_all` UInt64 comment 'how many of those who viewed the shop bought in it within 30 days, with or without an offer between',
  `offer_share` Nullable(Float64) comment 'went_to_offer as a share of viewed',
  `bought_share` Nullable(Float64) comment 'bought as a share of went_to_offer'
) sql security invoker as
select org_id, day, shop_id, viewed, went_to_offer, bought, bought_at_all, offer_share, bought_share
from (
select steps.org_id as org_id, steps.day as day, steps.shop_id as shop_id,
  uniqExact(steps.person) as viewed,
  uniqExactIf(steps.person, is_offer) as went_to_offer,
  uniqExactIf(steps.person, is_offer and ifNull(after_offer.bought_at <= offer_at + interval 30 day, false)) as bought,
  uniqExactIf(steps.person, ifNull(after_view.bought_at <= steps.seen_at + interval 30 day, false)) as bought_at_all,
  went_to_offer / viewed as offer_share,
  bought / nullIf(went_to_offer, 0) as bought_share
from (
  select views.org_id as org_id, views.day as day, views.shop_id as shop_id, views.person as person, views.seen_at as seen_at,
    next.offer_at as offer_at, ifNull(next.offer_at <= views.seen_at + interval 30 day, false) as is_offer,
    ifNull(next.offer_at, views.seen_at) as begun_at
  from (
    select org_id, day, item_id as shop_id, assumeNotNull(person) as person, seen_at
    from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
    where item_type = 'SHOP' and interaction_type = 'PAGE_VIEW' and seen.person is not null
  ) as views
  asof left join (
    select org_id, offers.shop_id as shop_id, assumeNotNull(person) as person, seen_at, toNullable(seen_at) as offer_at
    from (
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from (select * from weir.interactions where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day)) as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from (select * from weir.customers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
) as seen
    join (select org_id, offer_id as item_id, shop_id from (select * from weir.offers_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day))) as offers using (org_id, item_id)
    where item_type = 'OFFER' and seen.person is not null
  ) as next on next.org_id = views.org_id and next.shop_id = views.shop_id and next.person = views.person
    and next.seen_at >= views.seen_at
) as steps
asof left join (
  select org_id, shop_id, toString(assumeNotNull(student_id)) as person, bought_at as at, toNullable(bought_at) as bought_at
  from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
  where student_id is not null
) as after_view on after_view.org_id = steps.org_id and after_view.shop_id = steps.shop_id
  and after_view.person = steps.person and after_view.at >= steps.seen_at
asof left join (
  select org_id, shop_id, toString(assumeNotNull(student_id)) as person, bought_at as at, toNullable(bought_at) as bought_at
  from (
  select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount_exact, savings_exact,
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from (select *, savings_exact, amount_exact, discount_value_exact from weir.transactions_current final where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day) and not ifNull(is_deleted, false))
)
  where student_id is not null
) as after_offer on after_offer.org_id = steps.org_id and after_offer.shop_id = steps.shop_id
  and after_offer.person = steps.person and after_offer.at >= steps.begun_at
group by org_id, day, shop_id
)
where org_id not in (select groupUniqArray(org_id) from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day)
comment 'funnel of all organisations for which no rows are kept; the view funnel shows them';

create or replace table weir.funnel_not_kept_if_any on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day on which the shop was viewed, in UTC',
  `shop_id` UUID comment 'the shop',
  `viewed` UInt64 comment 'how many different persons viewed a page of the shop',
  `went_to_offer` UInt64 comment 'how many of them did something with an offer of the shop within 30 days after that',
  `bought` UInt64 comment 'how many of these bought in the shop within 30 days after that',
  `bought_at_all` UInt64 comment 'how many of those who viewed the shop bought in it within 30 days, with or without an offer between',
  `offer_share` Nullable(Float64) comment 'went_to_offer as a share of viewed',
  `bought_share` Nullable(Float64) comment 'bought as a share of went_to_offer'
) engine = Merge('weir', '^funnel_not_kept$')
comment 'funnel_not_kept, for the view funnel to ask only where it may have a row';

create or replace view weir.funnel on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day on which the shop was viewed, in UTC',
  `shop_id` UUID comment 'the shop',
  `viewed` UInt64 comment 'how many different persons viewed a page of the shop',
  `went_to_offer` UInt64 comment 'how many of them did something with an offer of the shop within 30 days after that',
  `bought` UInt64 comment 'how many of these bought in the shop within 30 days after that',
  `bought_at_all` UInt64 comment 'how many of those who viewed the shop bought in it within 30 days, with or without an offer between',
  `offer_share` Nullable(Float64) comment 'went_to_offer as a share of viewed',
  `bought_share` Nullable(Float64) comment 'bought as a share of went_to_offer'
) sql security invoker as
select org_id, day, shop_id, viewed, went_to_offer, bought, bought_at_all, offer_share, bought_share
from (
select org_id, day, shop_id, viewed, went_to_offer, bought, bought_at_all, offer_share, bought_share
from weir.funnel_kept
where generation in (select generation from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and org_id in (select org_id from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day))
union all
select org_id, day, shop_id, viewed, went_to_offer, bought, bought_at_all, offer_share, bought_share
from weir.funnel_not_kept_if_any
where _table in (
  select 'funnel_not_kept' from weir.interactions_log where org_id not in (select org_id from weir.marts_kept final where mart = 'funnel' and law = 'dfeeadec7f1c50e3' and part = -2147483648 and kept_at > now() - interval 1 day) limit 1
)
)
comment 'How many of those who view a shop go on to one of its offers, and from there to a purchase. One row: a day and a shop that at least one person viewed on that day.';

create or replace view weir.refusals_by_day on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `day` Date32 comment 'the day on which they were refused, in UTC',
  `type` LowCardinality(String) comment 'the type of the records',
  `code` LowCardinality(String) comment 'what is wrong with them, as the API calls it',
  `refused` UInt64 comment 'how many refused records have a problem with this code; one with several codes counts at each'
) sql security invoker as
select org_id, day, type, code, refused
from (
select org_id, toDate32(rejected_at) as day, type, code, count() as refused
from weir.rejections
array join arrayDistinct(problems.code) as code
group by org_id, day, type, code
)
comment 'What was refused, and why. One row: a day, type and code with at least one refused record; for as long as rejections are kept.';

create or replace view weir.marts_as_of on cluster `weir` (
  `org_id` LowCardinality(String) comment 'the organisation that uploaded the records',
  `mart` LowCardinality(String) comment 'the mart',
  `as_of` DateTime64(3, 'UTC') comment 'what was stored before this moment is in the figures'
) sql security invoker as
select org_id, mart, as_of
from (
select org_id, mart, toDateTime64(max(kept_at), 3, 'UTC') as as_of
from weir.marts_kept final
where part = -2147483648 and kept_at > now() - interval 1 day
group by org_id, mart
)
comment 'Of what moment the figures of a large organisation are; those that are not listed here are of this moment. One row: a mart that is kept for the organisation.';
