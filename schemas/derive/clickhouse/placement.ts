import { database } from '../names.js'

/** Where the tables stand: on one server, or on the shards of a cluster, each of which has replicas. */
export type Placement = {
  /** Follows the name in a statement that every server has to run. */
  on: string
  /** The table that holds the rows: the one that is fed, altered, pruned and exchanged. Others ask for it by its plain name. */
  stored: (table: string) => string
  engine: (table: string, keeps: Keeps) => string
  /** What makes the table of the plain name, where another one holds the rows: it reads and writes those of all shards. */
  front: (table: string, about: string) => string[]
  /** Every name that a table has here. */
  namesOf: (table: string) => string[]
}

/** Of rows with the same key: one of them, the one in which this column is highest, or all. */
export type Keeps = 'one' | 'all' | { newestBy: string }

export const oneServer: Placement = {
  on: '',
  stored: (table) => table,
  engine: (_, keeps) => engineOf(keeps, (name, newestBy) => `${name}${newestBy ? `(${newestBy})` : ''}`),
  front: () => [],
  namesOf: (table) => [table],
}

/**
 * All rows of an organisation are on one shard, so that what a table keeps once is there once. The path in Keeper has a part
 * that changes with each rebuild: the new table is made while the old one still has its path.
 */
export const onCluster = (
  cluster: string,
  pathOf: (table: string) => string = (table) => replicaPath(table),
): Placement => ({
  on: ` on cluster \`${cluster}\``,
  stored: storedName,
  engine: (table, keeps) =>
    engineOf(
      keeps,
      (name, newestBy) => `Replicated${name}('${pathOf(table)}', '{replica}'${newestBy ? `, ${newestBy}` : ''})`,
    ),
  front: (table, about) => [
    `create table if not exists ${database}.${table} on cluster \`${cluster}\` as ${database}.${storedName(table)}
engine = Distributed(\`${cluster}\`, ${database}, ${storedName(table)}, cityHash64(org_id))
comment ${about}`,
  ],
  namesOf: (table) => [storedName(table), table],
})

const engineOf = (keeps: Keeps, declared: (name: string, newestBy?: string) => string): string =>
  keeps === 'all' ? declared('MergeTree') : declared('ReplacingMergeTree', keeps === 'one' ? undefined : keeps.newestBy)

const storedName = (table: string): string => `${table}_local`

/** Servers of one shard replicate what has one path; {shard} and {replica} are macros of each server. */
export const replicaPath = (table: string, made = 'first'): string =>
  `/clickhouse/tables/{shard}/${database}/${table}/${made}`

/** Where the tables of a server stand: `cluster` is the one that it belongs to. */
export const placementOf = ({ cluster }: { cluster?: string | undefined }): Placement =>
  cluster === undefined ? oneServer : onCluster(cluster)
