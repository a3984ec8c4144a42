"""Derived from schemas/records; to write it anew: npm run publish-schemas"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Callable, Dict, Literal, Optional, TypedDict, Union
from uuid import UUID

if TYPE_CHECKING:
    from .aio import Uploads as AsyncUploads
    from .client import Uploads


class _ShopsRecordRequired(TypedDict):
    # record identifier
    shop_id: Union[str, UUID]
    # what the shop is called
    name: str
    # 2-letter country code
    region: str


class ShopsRecord(_ShopsRecordRequired, total=False):
    """A shop that takes part."""

    # whether the shop is shown publicly
    is_public: Optional[bool]
    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _CategoriesRecordRequired(TypedDict):
    # record identifier
    category_id: Union[str, UUID]
    # what the category is called
    name: str
    # 2-letter country code
    region: str


class CategoriesRecord(_CategoriesRecordRequired, total=False):
    """A category that shops are put into."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _TagsRecordRequired(TypedDict):
    # record identifier
    tag_id: Union[str, UUID]
    # the tag itself
    name: str


class TagsRecord(_TagsRecordRequired, total=False):
    """A tag that shops carry."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _KeywordsRecordRequired(TypedDict):
    # record identifier
    keyword_id: Union[str, UUID]
    # the keyword itself
    name: str


class KeywordsRecord(_KeywordsRecordRequired, total=False):
    """A keyword that shops are found by."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _InstitutesRecordRequired(TypedDict):
    # record identifier
    institute_id: Union[str, UUID]
    # what the institute is called
    name: str
    # 2-letter country code
    region: str


class InstitutesRecord(_InstitutesRecordRequired, total=False):
    """An educational institute."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _CoursesRecordRequired(TypedDict):
    # record identifier
    course_id: Union[str, UUID]
    # what the course is called
    name: str


class CoursesRecord(_CoursesRecordRequired, total=False):
    """A course of study."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _CustomersRecordRequired(TypedDict):
    # record identifier
    customer_id: Union[str, UUID]
    # user identifier
    user_id: Union[str, UUID]
    # 2-letter country code
    region: str


class CustomersRecord(_CustomersRecordRequired, total=False):
    """A customer. A student is a customer: every student_id is a customer_id."""

    # date of birth
    birthdate: Optional[Union[str, date]]
    # educational institute
    institute_id: Optional[Union[str, UUID]]
    # course
    course_id: Optional[Union[str, UUID]]
    # as the organisation records it
    gender: Optional[str]
    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _BranchesRecordRequired(TypedDict):
    # record identifier
    branch_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    # what the branch is called
    name: str
    # 2-letter country code
    region: str


class BranchesRecord(_BranchesRecordRequired, total=False):
    """A place where a shop does business."""

    # degrees north of the equator
    latitude: Optional[Union[float, Decimal]]
    # degrees east of Greenwich
    longitude: Optional[Union[float, Decimal]]
    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _OffersRecordRequired(TypedDict):
    # record identifier
    offer_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    # what the offer is called
    name: str
    # for example percentage or fixed
    type: str
    # how much it takes off, in the unit that type says
    value: Union[float, Decimal]
    # 2-letter country code
    region: str


class OffersRecord(_OffersRecordRequired, total=False):
    """An offer of a shop."""

    # start of validity
    allowed_from: Optional[Union[str, datetime]]
    # end of validity
    allowed_to: Optional[Union[str, datetime]]
    # comma-separated branch ids
    allowed_branches: Optional[str]
    # comma-separated day names
    allowed_days: Optional[str]
    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]
    # whether the offer is currently enabled
    is_enabled: Optional[bool]


class _TransactionsRecordRequired(TypedDict):
    # record identifier
    transaction_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    # 2-letter country code
    region: str
    # how much less was paid
    savings: Union[float, Decimal]
    # how much was paid
    amount: Union[float, Decimal]


class TransactionsRecord(_TransactionsRecordRequired, total=False):
    """A purchase in a shop."""

    # purchasing student
    student_id: Optional[Union[str, UUID]]
    # offer used
    offer_id: Optional[Union[str, UUID]]
    # branch location
    branch_id: Optional[Union[str, UUID]]
    # origin of the transaction, for example online or in-store
    source: Optional[str]
    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]
    # what the discount is called
    discount_name: Optional[str]
    # for example percentage or fixed
    discount_type: Optional[str]
    # how much the discount takes off, in the unit that discount_type says
    discount_value: Optional[Union[float, Decimal]]


class _ShopCategoriesRecordRequired(TypedDict):
    # record identifier
    shop_category_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    category_id: Union[str, UUID]
    # 2-letter country code
    region: str


class ShopCategoriesRecord(_ShopCategoriesRecordRequired, total=False):
    """A shop in a category."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _ShopTagsRecordRequired(TypedDict):
    # record identifier
    shop_tag_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    tag_id: Union[str, UUID]


class ShopTagsRecord(_ShopTagsRecordRequired, total=False):
    """A tag on a shop."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _ShopKeywordsRecordRequired(TypedDict):
    # record identifier
    shop_keyword_id: Union[str, UUID]
    shop_id: Union[str, UUID]
    keyword_id: Union[str, UUID]


class ShopKeywordsRecord(_ShopKeywordsRecordRequired, total=False):
    """A keyword of a shop."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _StudentFavouritesRecordRequired(TypedDict):
    # record identifier
    student_favourite_id: Union[str, UUID]
    customer_id: Union[str, UUID]
    shop_id: Union[str, UUID]


class StudentFavouritesRecord(_StudentFavouritesRecordRequired, total=False):
    """A shop that a student marked as a favourite."""

    # when the record was created at its source
    created: Optional[Union[str, datetime]]
    # when the record was last changed at its source
    updated: Optional[Union[str, datetime]]
    # marks the record as deleted: it leaves the views, and still satisfies references
    is_deleted: Optional[bool]


class _InteractionRequired(TypedDict):
    # what the user did
    interaction_type: Literal["FILTER_CLICK", "SHARE", "PAGE_VIEW", "DISCOUNT_CODE"]
    # the kind of thing it was done with
    item_type: Literal["TAG", "OFFER", "SHOP", "KEYWORD"]
    item_id: Union[str, UUID]
    # when it happened
    event_timestamp: Union[str, int, datetime]


class Interaction(_InteractionRequired, total=False):
    """One interaction of a user with a tag, an offer, a shop or a keyword."""

    # pseudonymous user identifier
    user_id: Optional[str]
    # an existing customer
    student_id: Optional[Union[str, UUID]]
    # where the interaction occurred
    city: Optional[str]
    # where the interaction occurred
    country: Optional[str]
    # where the user was
    platform: Optional[Literal["ANDROID", "IOS", "WEB", "OTHER"]]
    # SERVICE when it came from a recommendation response, null for browsing
    source: Optional[Literal["SERVICE"]]
    # the recommendation that it came from
    recommendation_id: Optional[Union[str, UUID]]


@dataclass(frozen=True)
class RecordType:
    """`name` is the path segment, `id` the field that identifies a record, `limit` how many one request may carry."""

    name: str
    id: str
    limit: int
    # What each field takes.
    fields: Dict[str, str]


RECORD_TYPES = {
    "shops": RecordType(
        "shops",
        "shop_id",
        5000,
        {
            "shop_id": "uuid",
            "name": "text",
            "region": "country",
            "is_public": "boolean",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "categories": RecordType(
        "categories",
        "category_id",
        5000,
        {
            "category_id": "uuid",
            "name": "text",
            "region": "country",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "tags": RecordType(
        "tags",
        "tag_id",
        5000,
        {
            "tag_id": "uuid",
            "name": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "keywords": RecordType(
        "keywords",
        "keyword_id",
        5000,
        {
            "keyword_id": "uuid",
            "name": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "institutes": RecordType(
        "institutes",
        "institute_id",
        5000,
        {
            "institute_id": "uuid",
            "name": "text",
            "region": "country",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "courses": RecordType(
        "courses",
        "course_id",
        1000,
        {
            "course_id": "uuid",
            "name": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "customers": RecordType(
        "customers",
        "customer_id",
        5000,
        {
            "customer_id": "uuid",
            "user_id": "uuid",
            "region": "country",
            "birthdate": "date",
            "institute_id": "uuid",
            "course_id": "uuid",
            "gender": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "branches": RecordType(
        "branches",
        "branch_id",
        5000,
        {
            "branch_id": "uuid",
            "shop_id": "reference",
            "name": "text",
            "region": "country",
            "latitude": "number",
            "longitude": "number",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "offers": RecordType(
        "offers",
        "offer_id",
        5000,
        {
            "offer_id": "uuid",
            "shop_id": "reference",
            "name": "text",
            "type": "text",
            "value": "number",
            "region": "country",
            "allowed_from": "instant",
            "allowed_to": "instant",
            "allowed_branches": "text",
            "allowed_days": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
            "is_enabled": "boolean",
        },
    ),
    "transactions": RecordType(
        "transactions",
        "transaction_id",
        5000,
        {
            "transaction_id": "uuid",
            "shop_id": "reference",
            "region": "country",
            "savings": "number",
            "amount": "number",
            "student_id": "uuid",
            "offer_id": "uuid",
            "branch_id": "uuid",
            "source": "text",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
            "discount_name": "text",
            "discount_type": "text",
            "discount_value": "number",
        },
    ),
    "shop-categories": RecordType(
        "shop-categories",
        "shop_category_id",
        5000,
        {
            "shop_category_id": "uuid",
            "shop_id": "reference",
            "category_id": "reference",
            "region": "country",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "shop-tags": RecordType(
        "shop-tags",
        "shop_tag_id",
        5000,
        {
            "shop_tag_id": "uuid",
            "shop_id": "reference",
            "tag_id": "reference",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "shop-keywords": RecordType(
        "shop-keywords",
        "shop_keyword_id",
        5000,
        {
            "shop_keyword_id": "uuid",
            "shop_id": "reference",
            "keyword_id": "reference",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "student-favourites": RecordType(
        "student-favourites",
        "student_favourite_id",
        5000,
        {
            "student_favourite_id": "uuid",
            "customer_id": "reference",
            "shop_id": "reference",
            "created": "instant",
            "updated": "instant",
            "is_deleted": "boolean",
        },
    ),
    "interactions": RecordType(
        "interactions",
        "interaction_id",
        5000,
        {
            "interaction_type": "choice",
            "user_id": "text",
            "student_id": "reference",
            "item_type": "choice",
            "item_id": "item",
            "city": "text",
            "country": "text",
            "platform": "choice",
            "event_timestamp": "moment",
            "source": "choice",
            "recommendation_id": "uuid",
        },
    ),
}


class ByType:
    shops: Uploads[ShopsRecord]
    categories: Uploads[CategoriesRecord]
    tags: Uploads[TagsRecord]
    keywords: Uploads[KeywordsRecord]
    institutes: Uploads[InstitutesRecord]
    courses: Uploads[CoursesRecord]
    customers: Uploads[CustomersRecord]
    branches: Uploads[BranchesRecord]
    offers: Uploads[OffersRecord]
    transactions: Uploads[TransactionsRecord]
    shop_categories: Uploads[ShopCategoriesRecord]
    shop_tags: Uploads[ShopTagsRecord]
    shop_keywords: Uploads[ShopKeywordsRecord]
    student_favourites: Uploads[StudentFavouritesRecord]

    def _set_types(self, of: Callable[[str], Any]) -> None:
        self.shops = of("shops")
        self.categories = of("categories")
        self.tags = of("tags")
        self.keywords = of("keywords")
        self.institutes = of("institutes")
        self.courses = of("courses")
        self.customers = of("customers")
        self.branches = of("branches")
        self.offers = of("offers")
        self.transactions = of("transactions")
        self.shop_categories = of("shop-categories")
        self.shop_tags = of("shop-tags")
        self.shop_keywords = of("shop-keywords")
        self.student_favourites = of("student-favourites")


class AsyncByType:
    shops: AsyncUploads[ShopsRecord]
    categories: AsyncUploads[CategoriesRecord]
    tags: AsyncUploads[TagsRecord]
    keywords: AsyncUploads[KeywordsRecord]
    institutes: AsyncUploads[InstitutesRecord]
    courses: AsyncUploads[CoursesRecord]
    customers: AsyncUploads[CustomersRecord]
    branches: AsyncUploads[BranchesRecord]
    offers: AsyncUploads[OffersRecord]
    transactions: AsyncUploads[TransactionsRecord]
    shop_categories: AsyncUploads[ShopCategoriesRecord]
    shop_tags: AsyncUploads[ShopTagsRecord]
    shop_keywords: AsyncUploads[ShopKeywordsRecord]
    student_favourites: AsyncUploads[StudentFavouritesRecord]

    def _set_types(self, of: Callable[[str], Any]) -> None:
        self.shops = of("shops")
        self.categories = of("categories")
        self.tags = of("tags")
        self.keywords = of("keywords")
        self.institutes = of("institutes")
        self.courses = of("courses")
        self.customers = of("customers")
        self.branches = of("branches")
        self.offers = of("offers")
        self.transactions = of("transactions")
        self.shop_categories = of("shop-categories")
        self.shop_tags = of("shop-tags")
        self.shop_keywords = of("shop-keywords")
        self.student_favourites = of("student-favourites")
