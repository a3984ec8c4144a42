"""Derived from schemas/records; to write it anew: npm run publish-schemas"""

import json
from typing import Any, Dict

SAMPLED_TYPES: Dict[str, Dict[str, Any]] = json.loads(r"""{
  "shops": {
   "id": "shop_id",
   "fields": {
    "shop_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["Seven Corners","North Star","Blue Door","Old Mill","Harbour","Green Lane","Miller & Sons","O'Brien's"],["Books","Coffee","Bikes","Records","Bakery","Optics","Shoes, Bags","Games"]]}},
    "region": {"kind":"country","required":true},
    "is_public": {"kind":"boolean","required":false,"likeness":{"any":true}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "categories": {
   "id": "category_id",
   "fields": {
    "category_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["Food","Books","Clothing","Music","Sports","Travel","Health","Electronics","Home","Gifts"]]}},
    "region": {"kind":"country","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "tags": {
   "id": "tag_id",
   "fields": {
    "tag_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["vegan","student favourite","new","open late","local","second-hand","fair trade","last chance"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "keywords": {
   "id": "keyword_id",
   "fields": {
    "keyword_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["coffee","textbooks","headphones","running shoes","pizza","haircut","train tickets","laptop","sushi","cinema","gym","stationery"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "institutes": {
   "id": "institute_id",
   "fields": {
    "institute_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["Kingsbridge University","Northgate College","Riverside Institute of Art","Eastfield Polytechnic"]]}},
    "region": {"kind":"country","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "courses": {
   "id": "course_id",
   "fields": {
    "course_id": {"kind":"uuid","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["Economics","Physics","History","Nursing","Law","Computer Science","Fine Art","Biology","Music"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "customers": {
   "id": "customer_id",
   "fields": {
    "customer_id": {"kind":"uuid","required":true},
    "user_id": {"kind":"uuid","required":true},
    "region": {"kind":"country","required":true},
    "birthdate": {"kind":"date","required":false,"likeness":{"from":473385600000,"to":1167609600000}},
    "institute_id": {"kind":"uuid","required":false,"likeness":{"idOf":"institutes"}},
    "course_id": {"kind":"uuid","required":false,"likeness":{"idOf":"courses"}},
    "gender": {"kind":"text","required":false,"likeness":{"words":[["female","male","other"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "branches": {
   "id": "branch_id",
   "fields": {
    "branch_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["London","Leeds","Bristol","Dublin","Cork","Berlin","Lyon","Cardiff","Glasgow","York"],["High Street","Station Road","Market Square, north side","Riverside","Old Town","Campus"]]}},
    "region": {"kind":"country","required":true},
    "latitude": {"kind":"number","min":-90,"max":90,"required":false,"likeness":{"from":50,"to":56,"step":0.0001}},
    "longitude": {"kind":"number","min":-180,"max":180,"required":false,"likeness":{"from":-5,"to":1,"step":0.0001}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "offers": {
   "id": "offer_id",
   "fields": {
    "offer_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "name": {"kind":"text","required":true,"likeness":{"words":[["Ten off","Two for one","Student Tuesday","Free coffee with lunch","The \"big\" one","Winter sale, everything"]]}},
    "type": {"kind":"text","required":true,"likeness":{"words":[["percentage","percentage","fixed"]]}},
    "value": {"kind":"number","above":0,"isSummed":true,"required":true,"likeness":{"from":5,"to":50,"step":5}},
    "region": {"kind":"country","required":true},
    "allowed_from": {"kind":"instant","required":false,"likeness":{"lastDays":300}},
    "allowed_to": {"kind":"instant","required":false},
    "allowed_branches": {"kind":"text","longest":190000,"required":false},
    "allowed_days": {"kind":"text","required":false,"likeness":{"words":[["Monday,Tuesday","Saturday,Sunday"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false},
    "is_enabled": {"kind":"boolean","required":false,"likeness":{"any":true}}
   }
  },
  "transactions": {
   "id": "transaction_id",
   "fields": {
    "transaction_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "region": {"kind":"country","required":true},
    "savings": {"kind":"number","min":0,"isSummed":true,"required":true,"likeness":{"from":0,"to":10,"step":0.01}},
    "amount": {"kind":"number","above":0,"isSummed":true,"required":true,"likeness":{"from":1,"to":120,"step":0.01}},
    "student_id": {"kind":"uuid","required":false,"likeness":{"idOf":"customers"}},
    "offer_id": {"kind":"uuid","required":false,"likeness":{"idOf":"offers"}},
    "branch_id": {"kind":"uuid","required":false},
    "source": {"kind":"text","required":false,"likeness":{"words":[["online","in-store"]]}},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false},
    "discount_name": {"kind":"text","required":false},
    "discount_type": {"kind":"text","required":false},
    "discount_value": {"kind":"number","isSummed":true,"required":false}
   }
  },
  "shop-categories": {
   "id": "shop_category_id",
   "fields": {
    "shop_category_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "category_id": {"kind":"reference","to":"categories","required":true},
    "region": {"kind":"country","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "shop-tags": {
   "id": "shop_tag_id",
   "fields": {
    "shop_tag_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "tag_id": {"kind":"reference","to":"tags","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "shop-keywords": {
   "id": "shop_keyword_id",
   "fields": {
    "shop_keyword_id": {"kind":"uuid","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "keyword_id": {"kind":"reference","to":"keywords","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "student-favourites": {
   "id": "student_favourite_id",
   "fields": {
    "student_favourite_id": {"kind":"uuid","required":true},
    "customer_id": {"kind":"reference","to":"customers","required":true},
    "shop_id": {"kind":"reference","to":"shops","required":true},
    "created": {"kind":"instant","required":false,"likeness":{"lastDays":700}},
    "updated": {"kind":"instant","required":false},
    "is_deleted": {"kind":"boolean","required":false}
   }
  },
  "interactions": {
   "id": "interaction_id",
   "fields": {
    "interaction_id": {"assigned":true,"kind":"uuid","required":true},
    "recorded_at": {"assigned":true,"kind":"instant","required":true},
    "interaction_type": {"kind":"choice","of":["FILTER_CLICK","SHARE","PAGE_VIEW","DISCOUNT_CODE"],"required":true},
    "user_id": {"kind":"text","required":false},
    "student_id": {"kind":"reference","to":"customers","required":false,"likeness":{"any":true}},
    "item_type": {"kind":"choice","of":["TAG","OFFER","SHOP","KEYWORD"],"required":true},
    "item_id": {"kind":"item","by":"item_type","kinds":{"TAG":"tags","OFFER":"offers","SHOP":"shops","KEYWORD":"keywords"},"required":true},
    "city": {"kind":"text","required":false,"likeness":{"words":[["London","Leeds","Bristol","Dublin","Cork","Berlin","Lyon","Cardiff","Glasgow","York"]]}},
    "country": {"kind":"text","required":false,"likeness":{"words":[["GB"]]}},
    "platform": {"kind":"choice","of":["ANDROID","IOS","WEB","OTHER"],"required":false,"likeness":{"any":true}},
    "event_timestamp": {"kind":"moment","required":true},
    "source": {"kind":"choice","of":["SERVICE"],"required":false,"likeness":{"any":true}},
    "recommendation_id": {"kind":"uuid","required":false}
   }
  }
}""")
