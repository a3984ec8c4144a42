{{ config(materialized='table', engine='MergeTree()', order_by='(org_id, customer_id)') }}

select
  segments.org_id as org_id,
  segments.customer_id as customer_id,
  customers.region as region,
  customers.institute as institute,
  segments.recency_days as recency_days,
  segments.frequency as frequency,
  segments.monetary as monetary,
  now() as counted_at
from {{ source('weir', 'customer_segments') }} as segments
join {{ source('weir', 'customers_overview') }} as customers
  on customers.org_id = segments.org_id and customers.customer_id = segments.customer_id
where segments.segment = 'at risk'
