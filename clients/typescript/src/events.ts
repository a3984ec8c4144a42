// Derived from schemas/records; to write it anew: npm run publish-schemas

/** On weir.accepted.shops: a shop that takes part. */
export interface ShopsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  shop_id: string
  /** what the shop is called */
  name: string
  /** 2-letter country code */
  region: string
  /** whether the shop is shown publicly */
  is_public: boolean | null
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.categories: a category that shops are put into. */
export interface CategoriesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  category_id: string
  /** what the category is called */
  name: string
  /** 2-letter country code */
  region: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.tags: a tag that shops carry. */
export interface TagsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  tag_id: string
  /** the tag itself */
  name: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.keywords: a keyword that shops are found by. */
export interface KeywordsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  keyword_id: string
  /** the keyword itself */
  name: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.institutes: an educational institute. */
export interface InstitutesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  institute_id: string
  /** what the institute is called */
  name: string
  /** 2-letter country code */
  region: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.courses: a course of study. */
export interface CoursesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  course_id: string
  /** what the course is called */
  name: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.customers: a customer. A student is a customer: every student_id is a customer_id. */
export interface CustomersEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  customer_id: string
  /** user identifier */
  user_id: string
  /** 2-letter country code */
  region: string
  /** date of birth; days since 1970 */
  birthdate: number | null
  /** educational institute */
  institute_id: string | null
  /** course */
  course_id: string | null
  /** as the organisation records it */
  gender: string | null
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.branches: a place where a shop does business. */
export interface BranchesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  branch_id: string
  shop_id: string
  /** what the branch is called */
  name: string
  /** 2-letter country code */
  region: string
  /** degrees north of the equator */
  latitude: number | null
  /** degrees east of Greenwich */
  longitude: number | null
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.offers: an offer of a shop. */
export interface OffersEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  offer_id: string
  shop_id: string
  /** what the offer is called */
  name: string
  /** for example percentage or fixed */
  type: string
  /** how much it takes off, in the unit that type says */
  value: number
  /** 2-letter country code */
  region: string
  /** start of validity; milliseconds since 1970, UTC */
  allowed_from: number | null
  /** end of validity; milliseconds since 1970, UTC */
  allowed_to: number | null
  /** comma-separated branch ids */
  allowed_branches: string | null
  /** comma-separated day names */
  allowed_days: string | null
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
  /** whether the offer is currently enabled */
  is_enabled: boolean | null
}

/** On weir.accepted.transactions: a purchase in a shop. */
export interface TransactionsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  transaction_id: string
  shop_id: string
  /** 2-letter country code */
  region: string
  /** how much less was paid */
  savings: number
  /** how much was paid */
  amount: number
  /** purchasing student */
  student_id: string | null
  /** offer used */
  offer_id: string | null
  /** branch location */
  branch_id: string | null
  /** origin of the transaction, for example online or in-store */
  source: string | null
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
  /** what the discount is called */
  discount_name: string | null
  /** for example percentage or fixed */
  discount_type: string | null
  /** how much the discount takes off, in the unit that discount_type says */
  discount_value: number | null
}

/** On weir.accepted.shop-categories: a shop in a category. */
export interface ShopCategoriesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  shop_category_id: string
  shop_id: string
  category_id: string
  /** 2-letter country code */
  region: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.shop-tags: a tag on a shop. */
export interface ShopTagsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  shop_tag_id: string
  shop_id: string
  tag_id: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.shop-keywords: a keyword of a shop. */
export interface ShopKeywordsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  shop_keyword_id: string
  shop_id: string
  keyword_id: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.accepted.student-favourites: a shop that a student marked as a favourite. */
export interface StudentFavouritesEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** record identifier */
  student_favourite_id: string
  customer_id: string
  shop_id: string
  /** when the record was created at its source; milliseconds since 1970, UTC */
  created: number | null
  /** when the record was last changed at its source; milliseconds since 1970, UTC */
  updated: number | null
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted: boolean | null
}

/** On weir.interactions: one interaction of a user with a tag, an offer, a shop or a keyword. */
export interface InteractionsEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** when the record was accepted; milliseconds since 1970, UTC */
  accepted_at: number
  /** grows with every write of the same id: the highest is the current one */
  version: number
  /** given by the service */
  interaction_id: string
  /** when the service took it in; milliseconds since 1970, UTC */
  recorded_at: number
  /** what the user did */
  interaction_type: 'FILTER_CLICK' | 'SHARE' | 'PAGE_VIEW' | 'DISCOUNT_CODE'
  /** pseudonymous user identifier */
  user_id: string | null
  /** an existing customer */
  student_id: string | null
  /** the kind of thing it was done with */
  item_type: 'TAG' | 'OFFER' | 'SHOP' | 'KEYWORD'
  item_id: string
  /** where the interaction occurred */
  city: string | null
  /** where the interaction occurred */
  country: string | null
  /** where the user was */
  platform: 'ANDROID' | 'IOS' | 'WEB' | 'OTHER' | null
  /** when it happened; milliseconds since 1970, UTC */
  event_timestamp: number
  /** SERVICE when it came from a recommendation response, null for browsing */
  source: 'SERVICE' | null
  /** the recommendation that it came from */
  recommendation_id: string | null
}

/** On weir.rejected: a record that was refused, and why. */
export interface RejectedEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** milliseconds since 1970, UTC */
  rejected_at: number
  /** place in the submitted log */
  version: number
  /** the type it was sent as */
  type: string
  /** index in the records of the request; of an interaction, its place in the batch */
  index: number
  /** what was given as its id */
  id: string | null
  problems: {
    field: string | null
    /** stable: branch on this */
    code: string
    /** for people */
    message: string
  }[]
  /** the record as JSON */
  record: string
  /** whether the record was too long and is cut off */
  truncated: boolean
}

/** On weir.waiting: a record that waits for what it refers to, or has ended to. */
export interface WaitingEvent {
  /** the organisation that sent it */
  org_id: string
  /** the request it came in */
  request_id: string
  /** the batch it came in */
  batch_id: string
  /** grows with every change: the highest of a batch_id and index is the current one */
  version: number
  /** the type it was sent as */
  type: string
  /** index in the records of the request; of an interaction, its place in the batch */
  index: number
  id: string
  /** waiting, accepted, refused, superseded or cancelled */
  state: string
  /** what it waits for, or waited for at the end */
  missing: {
    /** the field that refers to it */
    field: string
    /** the type of the missing record */
    type: string
    /** its id */
    id: string
  }[]
  /** milliseconds since 1970, UTC */
  since: number
  /** milliseconds since 1970, UTC */
  until: number
  /** milliseconds since 1970, UTC */
  changed_at: number
}

/** On weir.erasures: a person was erased, and is to be erased by whoever was told of that person before. */
export interface ErasedEvent {
  /** the organisation whose customer or user it was */
  org_id: string
  erasure_id: string
  /** erase; or pseudonymise: then transactions and interactions stay, without the person; or organisation: all of it is deleted */
  mode: string
  /** later uploads that name the person are refused (refuse), or taken as those of somebody new (new) */
  afterwards: string
  /** milliseconds since 1970, UTC */
  erased_at: number
  /** in hexadecimal digits */
  salt: string
  /** of each id of the person, UUIDs in lower case: SHA-256 of the bytes of the salt followed by the id, in hexadecimal digits */
  ids_sha256: string[]
}

/** The type of the events on each topic. */
export interface EventsByTopic {
  'weir.accepted.shops': ShopsEvent
  'weir.accepted.categories': CategoriesEvent
  'weir.accepted.tags': TagsEvent
  'weir.accepted.keywords': KeywordsEvent
  'weir.accepted.institutes': InstitutesEvent
  'weir.accepted.courses': CoursesEvent
  'weir.accepted.customers': CustomersEvent
  'weir.accepted.branches': BranchesEvent
  'weir.accepted.offers': OffersEvent
  'weir.accepted.transactions': TransactionsEvent
  'weir.accepted.shop-categories': ShopCategoriesEvent
  'weir.accepted.shop-tags': ShopTagsEvent
  'weir.accepted.shop-keywords': ShopKeywordsEvent
  'weir.accepted.student-favourites': StudentFavouritesEvent
  'weir.interactions': InteractionsEvent
  'weir.rejected': RejectedEvent
  'weir.waiting': WaitingEvent
  'weir.erasures': ErasedEvent
}
