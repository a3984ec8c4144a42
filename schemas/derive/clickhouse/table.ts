import { database } from '../names.js'
import { literal } from './columns.js'
import type { Keeps, Placement } from './placement.js'

type Table = {
  table: string
  /** As they are declared. */
  columns: readonly string[]
  keeps: Keeps
  /** The columns that rows are sorted by. */
  key: readonly string[]
  about: string
  placed: Placement
  /** An expression: the moment at which a row goes. */
  until?: string
  /** After how many rows there is an entry in the index, where it is not the usual number. */
  granularity?: number
}

/** A table that holds rows, and on a cluster the one through which all of them are read and written. */
export const createTable = ({ table, columns, keeps, key, about, placed, until, granularity }: Table): string[] => [
  `create table if not exists ${database}.${placed.stored(table)}${placed.on} (
${columns.map((column) => `  ${column}`).join(',\n')}
) engine = ${placed.engine(table, keeps)}
order by (${key.join(', ')})${until === undefined ? '' : `\nttl ${until}`}${granularity === undefined ? '' : `\nsettings index_granularity = ${granularity}`}
comment ${literal(about)}`,
  ...placed.front(table, literal(about)),
]
