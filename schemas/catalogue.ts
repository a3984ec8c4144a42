import type { RecordType } from './record.js'
import { branch } from './records/branch.js'
import { category } from './records/category.js'
import { course } from './records/course.js'
import { customer } from './records/customer.js'
import { institute } from './records/institute.js'
import { interaction } from './records/interaction.js'
import { keyword } from './records/keyword.js'
import { offer } from './records/offer.js'
import { shop } from './records/shop.js'
import { shopCategory } from './records/shop-category.js'
import { shopKeyword } from './records/shop-keyword.js'
import { shopTag } from './records/shop-tag.js'
import { studentFavourite } from './records/student-favourite.js'
import { tag } from './records/tag.js'
import { transaction } from './records/transaction.js'

export type Catalogue = {
  /** The types that are uploaded in batches, by path segment. */
  uploads: ReadonlyMap<string, RecordType>
  interaction: RecordType
  /** Every type, uploads and interactions alike. */
  all: ReadonlyMap<string, RecordType>
  /** The types that some other record refers to: the ones whose ids the entity index keeps. */
  referenced: ReadonlySet<string>
}

export const createCatalogue = (uploads: readonly RecordType[], interaction: RecordType): Catalogue => {
  const all = [...uploads, interaction]
  const byName = (types: readonly RecordType[]) => new Map(types.map((type) => [type.type, type]))
  const referenced = new Set(all.flatMap((type) => Object.values(type.fields).flatMap(targets)))
  for (const target of referenced) if (!byName(uploads).has(target)) throw new Error(`nothing is called ${target}`)
  return { uploads: byName(uploads), interaction, all: byName(all), referenced }
}

const targets = (field: RecordType['fields'][string]): string[] =>
  field.kind === 'reference' ? [field.to] : field.kind === 'item' ? Object.values(field.kinds) : []

/** All uploaded types, referenced ones before those that refer to them. */
export const uploads = [
  shop,
  category,
  tag,
  keyword,
  institute,
  course,
  customer,
  branch,
  offer,
  transaction,
  shopCategory,
  shopTag,
  shopKeyword,
  studentFavourite,
]

export const catalogue = createCatalogue(uploads, interaction)
