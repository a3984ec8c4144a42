create database if not exists weir;

create table if not exists weir.shops_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `shop_id` UUID,
  `name` String,
  `region` LowCardinality(String),
  `is_public` Nullable(Bool),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, shop_id);

alter table weir.shops_log
  add column if not exists `shop_id` UUID,
  add column if not exists `name` String,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `is_public` Nullable(Bool),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.shops sql security invoker as
select org_id, `shop_id`, `name`, `region`, `is_public`, `created`, `updated`, `is_deleted`
from weir.shops_log final
where not ifNull(is_deleted, false);

create table if not exists weir.categories_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `category_id` UUID,
  `name` String,
  `region` LowCardinality(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, category_id);

alter table weir.categories_log
  add column if not exists `category_id` UUID,
  add column if not exists `name` String,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.categories sql security invoker as
select org_id, `category_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.categories_log final
where not ifNull(is_deleted, false);

create table if not exists weir.tags_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `tag_id` UUID,
  `name` String,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, tag_id);

alter table weir.tags_log
  add column if not exists `tag_id` UUID,
  add column if not exists `name` String,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.tags sql security invoker as
select org_id, `tag_id`, `name`, `created`, `updated`, `is_deleted`
from weir.tags_log final
where not ifNull(is_deleted, false);

create table if not exists weir.keywords_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `keyword_id` UUID,
  `name` String,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, keyword_id);

alter table weir.keywords_log
  add column if not exists `keyword_id` UUID,
  add column if not exists `name` String,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.keywords sql security invoker as
select org_id, `keyword_id`, `name`, `created`, `updated`, `is_deleted`
from weir.keywords_log final
where not ifNull(is_deleted, false);

create table if not exists weir.institutes_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `institute_id` UUID,
  `name` String,
  `region` LowCardinality(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, institute_id);

alter table weir.institutes_log
  add column if not exists `institute_id` UUID,
  add column if not exists `name` String,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.institutes sql security invoker as
select org_id, `institute_id`, `name`, `region`, `created`, `updated`, `is_deleted`
from weir.institutes_log final
where not ifNull(is_deleted, false);

create table if not exists weir.courses_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `course_id` UUID,
  `name` String,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, course_id);

alter table weir.courses_log
  add column if not exists `course_id` UUID,
  add column if not exists `name` String,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.courses sql security invoker as
select org_id, `course_id`, `name`, `created`, `updated`, `is_deleted`
from weir.courses_log final
where not ifNull(is_deleted, false);

create table if not exists weir.customers_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `customer_id` UUID,
  `user_id` UUID,
  `region` LowCardinality(String),
  `birthdate` Nullable(Date32),
  `institute_id` Nullable(UUID),
  `course_id` Nullable(UUID),
  `gender` Nullable(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, customer_id);

alter table weir.customers_log
  add column if not exists `customer_id` UUID,
  add column if not exists `user_id` UUID,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `birthdate` Nullable(Date32),
  add column if not exists `institute_id` Nullable(UUID),
  add column if not exists `course_id` Nullable(UUID),
  add column if not exists `gender` Nullable(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.customers sql security invoker as
select org_id, `customer_id`, `user_id`, `region`, `birthdate`, `institute_id`, `course_id`, `gender`, `created`, `updated`, `is_deleted`
from weir.customers_log final
where not ifNull(is_deleted, false);

create table if not exists weir.branches_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `branch_id` UUID,
  `shop_id` UUID,
  `name` String,
  `region` LowCardinality(String),
  `latitude` Nullable(Float64),
  `longitude` Nullable(Float64),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, branch_id);

alter table weir.branches_log
  add column if not exists `branch_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `name` String,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `latitude` Nullable(Float64),
  add column if not exists `longitude` Nullable(Float64),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.branches sql security invoker as
select org_id, `branch_id`, `shop_id`, `name`, `region`, `latitude`, `longitude`, `created`, `updated`, `is_deleted`
from weir.branches_log final
where not ifNull(is_deleted, false);

create table if not exists weir.offers_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `offer_id` UUID,
  `shop_id` UUID,
  `name` String,
  `type` String,
  `value` Float64,
  `region` LowCardinality(String),
  `allowed_from` Nullable(DateTime64(3, 'UTC')),
  `allowed_to` Nullable(DateTime64(3, 'UTC')),
  `allowed_branches` Nullable(String),
  `allowed_days` Nullable(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool),
  `is_enabled` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, offer_id);

alter table weir.offers_log
  add column if not exists `offer_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `name` String,
  add column if not exists `type` String,
  add column if not exists `value` Float64,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `allowed_from` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `allowed_to` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `allowed_branches` Nullable(String),
  add column if not exists `allowed_days` Nullable(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool),
  add column if not exists `is_enabled` Nullable(Bool);

create or replace view weir.offers sql security invoker as
select org_id, `offer_id`, `shop_id`, `name`, `type`, `value`, `region`, `allowed_from`, `allowed_to`, `allowed_branches`, `allowed_days`, `created`, `updated`, `is_deleted`, `is_enabled`
from weir.offers_log final
where not ifNull(is_deleted, false);

create table if not exists weir.transactions_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `transaction_id` UUID,
  `shop_id` UUID,
  `region` LowCardinality(String),
  `savings` Float64,
  `amount` Float64,
  `student_id` Nullable(UUID),
  `offer_id` Nullable(UUID),
  `branch_id` Nullable(UUID),
  `source` Nullable(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool),
  `discount_name` Nullable(String),
  `discount_type` Nullable(String),
  `discount_value` Nullable(Float64)
) engine = ReplacingMergeTree(version)
order by (org_id, transaction_id);

alter table weir.transactions_log
  add column if not exists `transaction_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `savings` Float64,
  add column if not exists `amount` Float64,
  add column if not exists `student_id` Nullable(UUID),
  add column if not exists `offer_id` Nullable(UUID),
  add column if not exists `branch_id` Nullable(UUID),
  add column if not exists `source` Nullable(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool),
  add column if not exists `discount_name` Nullable(String),
  add column if not exists `discount_type` Nullable(String),
  add column if not exists `discount_value` Nullable(Float64);

create or replace view weir.transactions sql security invoker as
select org_id, `transaction_id`, `shop_id`, `region`, `savings`, `amount`, `student_id`, `offer_id`, `branch_id`, `source`, `created`, `updated`, `is_deleted`, `discount_name`, `discount_type`, `discount_value`
from weir.transactions_log final
where not ifNull(is_deleted, false);

create table if not exists weir.shop_categories_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `shop_category_id` UUID,
  `shop_id` UUID,
  `category_id` UUID,
  `region` LowCardinality(String),
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, shop_category_id);

alter table weir.shop_categories_log
  add column if not exists `shop_category_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `category_id` UUID,
  add column if not exists `region` LowCardinality(String),
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.shop_categories sql security invoker as
select org_id, `shop_category_id`, `shop_id`, `category_id`, `region`, `created`, `updated`, `is_deleted`
from weir.shop_categories_log final
where not ifNull(is_deleted, false);

create table if not exists weir.shop_tags_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `shop_tag_id` UUID,
  `shop_id` UUID,
  `tag_id` UUID,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, shop_tag_id);

alter table weir.shop_tags_log
  add column if not exists `shop_tag_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `tag_id` UUID,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.shop_tags sql security invoker as
select org_id, `shop_tag_id`, `shop_id`, `tag_id`, `created`, `updated`, `is_deleted`
from weir.shop_tags_log final
where not ifNull(is_deleted, false);

create table if not exists weir.shop_keywords_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `shop_keyword_id` UUID,
  `shop_id` UUID,
  `keyword_id` UUID,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, shop_keyword_id);

alter table weir.shop_keywords_log
  add column if not exists `shop_keyword_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `keyword_id` UUID,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.shop_keywords sql security invoker as
select org_id, `shop_keyword_id`, `shop_id`, `keyword_id`, `created`, `updated`, `is_deleted`
from weir.shop_keywords_log final
where not ifNull(is_deleted, false);

create table if not exists weir.student_favourites_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `student_favourite_id` UUID,
  `customer_id` UUID,
  `shop_id` UUID,
  `created` Nullable(DateTime64(3, 'UTC')),
  `updated` Nullable(DateTime64(3, 'UTC')),
  `is_deleted` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, student_favourite_id);

alter table weir.student_favourites_log
  add column if not exists `student_favourite_id` UUID,
  add column if not exists `customer_id` UUID,
  add column if not exists `shop_id` UUID,
  add column if not exists `created` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `updated` Nullable(DateTime64(3, 'UTC')),
  add column if not exists `is_deleted` Nullable(Bool);

create or replace view weir.student_favourites sql security invoker as
select org_id, `student_favourite_id`, `customer_id`, `shop_id`, `created`, `updated`, `is_deleted`
from weir.student_favourites_log final
where not ifNull(is_deleted, false);

create table if not exists weir.interactions_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  `interaction_id` UUID,
  `recorded_at` DateTime64(3, 'UTC'),
  `interaction_type` LowCardinality(String),
  `user_id` Nullable(String),
  `student_id` Nullable(UUID),
  `item_type` LowCardinality(String),
  `item_id` UUID,
  `city` Nullable(String),
  `country` Nullable(String),
  `platform` LowCardinality(Nullable(String)),
  `event_timestamp` DateTime64(3, 'UTC'),
  `source` LowCardinality(Nullable(String)),
  `recommendation_id` Nullable(UUID)
) engine = ReplacingMergeTree(version)
order by (org_id, event_timestamp, interaction_id);

alter table weir.interactions_log
  add column if not exists `interaction_id` UUID,
  add column if not exists `recorded_at` DateTime64(3, 'UTC'),
  add column if not exists `interaction_type` LowCardinality(String),
  add column if not exists `user_id` Nullable(String),
  add column if not exists `student_id` Nullable(UUID),
  add column if not exists `item_type` LowCardinality(String),
  add column if not exists `item_id` UUID,
  add column if not exists `city` Nullable(String),
  add column if not exists `country` Nullable(String),
  add column if not exists `platform` LowCardinality(Nullable(String)),
  add column if not exists `event_timestamp` DateTime64(3, 'UTC'),
  add column if not exists `source` LowCardinality(Nullable(String)),
  add column if not exists `recommendation_id` Nullable(UUID);

create or replace view weir.interactions sql security invoker as
select org_id, `interaction_id`, `recorded_at`, `interaction_type`, `user_id`, `student_id`, `item_type`, `item_id`, `city`, `country`, `platform`, `event_timestamp`, `source`, `recommendation_id`
from weir.interactions_log final;

create table if not exists weir.rejections_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  rejected_at DateTime64(3, 'UTC'),
  version UInt64,
  type LowCardinality(String),
  `index` UInt32,
  id Nullable(String),
  problems Array(Tuple(field Nullable(String), code String, message String)),
  record String,
  truncated Bool
) engine = ReplacingMergeTree(version)
order by (org_id, rejected_at, batch_id, `index`);

create or replace view weir.rejections sql security invoker as
select * except (version)
from weir.rejections_log final;
