select
  sales.org_id as org_id,
  toStartOfWeek(day, 1) as week,
  sales.shop_id as shop_id,
  any(shops.name) as shop,
  sum(transactions) as transactions,
  sum(amount) as amount,
  sum(savings) as savings
from {{ source('weir', 'sales_by_day') }} as sales
left join {{ source('weir', 'shops') }} as shops on shops.org_id = sales.org_id and shops.shop_id = sales.shop_id
group by org_id, week, shop_id
