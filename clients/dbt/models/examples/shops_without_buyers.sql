select
  org_id,
  shop_id,
  sum(viewed) as viewed,
  sum(bought_at_all) as bought,
  round(bought / viewed, 3) as share
from {{ source('weir', 'funnel') }}
group by org_id, shop_id
having viewed > bought
