// Derived from schemas/records; to write it anew: npm run publish-schemas

/** A shop that takes part. */
export interface ShopsRecord {
  /** record identifier; a UUID */
  shop_id: string
  /** what the shop is called */
  name: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** whether the shop is shown publicly */
  is_public?: boolean | null | undefined
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A category that shops are put into. */
export interface CategoriesRecord {
  /** record identifier; a UUID */
  category_id: string
  /** what the category is called */
  name: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A tag that shops carry. */
export interface TagsRecord {
  /** record identifier; a UUID */
  tag_id: string
  /** the tag itself */
  name: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A keyword that shops are found by. */
export interface KeywordsRecord {
  /** record identifier; a UUID */
  keyword_id: string
  /** the keyword itself */
  name: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** An educational institute. */
export interface InstitutesRecord {
  /** record identifier; a UUID */
  institute_id: string
  /** what the institute is called */
  name: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A course of study. */
export interface CoursesRecord {
  /** record identifier; a UUID */
  course_id: string
  /** what the course is called */
  name: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A customer. A student is a customer: every student_id is a customer_id. */
export interface CustomersRecord {
  /** record identifier; a UUID */
  customer_id: string
  /** user identifier; a UUID */
  user_id: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** date of birth; YYYY-MM-DD */
  birthdate?: string | null | undefined
  /** educational institute; a UUID */
  institute_id?: string | null | undefined
  /** course; a UUID */
  course_id?: string | null | undefined
  /** as the organisation records it */
  gender?: string | null | undefined
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A place where a shop does business. */
export interface BranchesRecord {
  /** record identifier; a UUID */
  branch_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** what the branch is called */
  name: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** degrees north of the equator; at least -90, at most 90 */
  latitude?: number | null | undefined
  /** degrees east of Greenwich; at least -180, at most 180 */
  longitude?: number | null | undefined
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** An offer of a shop. */
export interface OffersRecord {
  /** record identifier; a UUID */
  offer_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** what the offer is called */
  name: string
  /** for example percentage or fixed */
  type: string
  /** how much it takes off, in the unit that type says; above 0 */
  value: number
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** start of validity; ISO 8601; UTC where no offset is given */
  allowed_from?: string | Date | null | undefined
  /** end of validity; ISO 8601; UTC where no offset is given */
  allowed_to?: string | Date | null | undefined
  /** comma-separated branch ids; at most 190000 characters */
  allowed_branches?: string | null | undefined
  /** comma-separated day names */
  allowed_days?: string | null | undefined
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
  /** whether the offer is currently enabled */
  is_enabled?: boolean | null | undefined
}

/** A purchase in a shop. */
export interface TransactionsRecord {
  /** record identifier; a UUID */
  transaction_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** how much less was paid; at least 0 */
  savings: number
  /** how much was paid; above 0 */
  amount: number
  /** purchasing student; a UUID */
  student_id?: string | null | undefined
  /** offer used; a UUID */
  offer_id?: string | null | undefined
  /** branch location; a UUID */
  branch_id?: string | null | undefined
  /** origin of the transaction, for example online or in-store */
  source?: string | null | undefined
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
  /** what the discount is called */
  discount_name?: string | null | undefined
  /** for example percentage or fixed */
  discount_type?: string | null | undefined
  /** how much the discount takes off, in the unit that discount_type says */
  discount_value?: number | null | undefined
}

/** A shop in a category. */
export interface ShopCategoriesRecord {
  /** record identifier; a UUID */
  shop_category_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** the id of a record of categories that exists */
  category_id: string
  /** 2-letter country code; of ISO 3166, like GB */
  region: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A tag on a shop. */
export interface ShopTagsRecord {
  /** record identifier; a UUID */
  shop_tag_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** the id of a record of tags that exists */
  tag_id: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A keyword of a shop. */
export interface ShopKeywordsRecord {
  /** record identifier; a UUID */
  shop_keyword_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** the id of a record of keywords that exists */
  keyword_id: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** A shop that a student marked as a favourite. */
export interface StudentFavouritesRecord {
  /** record identifier; a UUID */
  student_favourite_id: string
  /** the id of a record of customers that exists */
  customer_id: string
  /** the id of a record of shops that exists */
  shop_id: string
  /** when the record was created at its source; ISO 8601; UTC where no offset is given */
  created?: string | Date | null | undefined
  /** when the record was last changed at its source; ISO 8601; UTC where no offset is given */
  updated?: string | Date | null | undefined
  /** marks the record as deleted: it leaves the views, and still satisfies references */
  is_deleted?: boolean | null | undefined
}

/** One interaction of a user with a tag, an offer, a shop or a keyword. */
export interface Interaction {
  /** what the user did */
  interaction_type: 'FILTER_CLICK' | 'SHARE' | 'PAGE_VIEW' | 'DISCOUNT_CODE'
  /** pseudonymous user identifier */
  user_id?: string | null | undefined
  /** an existing customer; the id of a record of customers that exists */
  student_id?: string | null | undefined
  /** the kind of thing it was done with */
  item_type: 'TAG' | 'OFFER' | 'SHOP' | 'KEYWORD'
  /** the id of a record that exists, of the kind that item_type says */
  item_id: string
  /** where the interaction occurred */
  city?: string | null | undefined
  /** where the interaction occurred */
  country?: string | null | undefined
  /** where the user was */
  platform?: 'ANDROID' | 'IOS' | 'WEB' | 'OTHER' | null | undefined
  /** when it happened; ISO 8601, or seconds since 1970, or milliseconds from 100 000 000 000 on */
  event_timestamp: string | number | Date
  /** SERVICE when it came from a recommendation response, null for browsing */
  source?: 'SERVICE' | null | undefined
  /** the recommendation that it came from; a UUID */
  recommendation_id?: string | null | undefined
}

/** One interaction of a user with a tag, an offer, a shop or a keyword. As it is read back. */
export interface RecordedInteraction {
  /** given by the service; a UUID */
  interaction_id: string
  /** when the service took it in; ISO 8601; UTC where no offset is given */
  recorded_at: string
  /** what the user did */
  interaction_type: 'FILTER_CLICK' | 'SHARE' | 'PAGE_VIEW' | 'DISCOUNT_CODE'
  /** pseudonymous user identifier */
  user_id: string | null
  /** an existing customer; the id of a record of customers that exists */
  student_id: string | null
  /** the kind of thing it was done with */
  item_type: 'TAG' | 'OFFER' | 'SHOP' | 'KEYWORD'
  /** the id of a record that exists, of the kind that item_type says */
  item_id: string
  /** where the interaction occurred */
  city: string | null
  /** where the interaction occurred */
  country: string | null
  /** where the user was */
  platform: 'ANDROID' | 'IOS' | 'WEB' | 'OTHER' | null
  /** when it happened; ISO 8601; UTC where no offset is given */
  event_timestamp: string
  /** SERVICE when it came from a recommendation response, null for browsing */
  source: 'SERVICE' | null
  /** the recommendation that it came from; a UUID */
  recommendation_id: string | null
}

/** The types of records that are uploaded, by their names in the SDK. */
export interface RecordTypes {
  shops: ShopsRecord
  categories: CategoriesRecord
  tags: TagsRecord
  keywords: KeywordsRecord
  institutes: InstitutesRecord
  courses: CoursesRecord
  customers: CustomersRecord
  branches: BranchesRecord
  offers: OffersRecord
  transactions: TransactionsRecord
  shopCategories: ShopCategoriesRecord
  shopTags: ShopTagsRecord
  shopKeywords: ShopKeywordsRecord
  studentFavourites: StudentFavouritesRecord
  interactions: Interaction
}

/** For each type: its path segment, the field that identifies a record, and how many one request may carry. */
export const recordTypes = {
  shops: { type: 'shops', id: 'shop_id', limit: 5000 },
  categories: { type: 'categories', id: 'category_id', limit: 5000 },
  tags: { type: 'tags', id: 'tag_id', limit: 5000 },
  keywords: { type: 'keywords', id: 'keyword_id', limit: 5000 },
  institutes: { type: 'institutes', id: 'institute_id', limit: 5000 },
  courses: { type: 'courses', id: 'course_id', limit: 1000 },
  customers: { type: 'customers', id: 'customer_id', limit: 5000 },
  branches: { type: 'branches', id: 'branch_id', limit: 5000 },
  offers: { type: 'offers', id: 'offer_id', limit: 5000 },
  transactions: { type: 'transactions', id: 'transaction_id', limit: 5000 },
  shopCategories: { type: 'shop-categories', id: 'shop_category_id', limit: 5000 },
  shopTags: { type: 'shop-tags', id: 'shop_tag_id', limit: 5000 },
  shopKeywords: { type: 'shop-keywords', id: 'shop_keyword_id', limit: 5000 },
  studentFavourites: { type: 'student-favourites', id: 'student_favourite_id', limit: 5000 },
  interactions: { type: 'interactions', id: 'interaction_id', limit: 5000 },
} as const satisfies Record<keyof RecordTypes, { type: string; id: string; limit: number }>

/** The path segments of the types. */
export type TypeName = (typeof recordTypes)[keyof RecordTypes]['type']
