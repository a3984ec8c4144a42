import type { Retry } from '#ledger/retries.js'
import { toDistance } from '../desk/arguments.js'
import { type Column, toTable } from '../desk/table.js'
import { codesOf, type Rejection } from './rejection.js'
import { retriedInWords } from './retried.js'

export type Listed = Rejection & { retry: Retry | undefined }

/** One line for each rejection; where the terminal is too narrow for that two, so that ids stay whole and can be copied. */
export const toListTable = (rows: readonly Listed[], width: number, now: Date): string => {
  const facts: Column<Listed>[] = [
    { title: 'WHEN', cell: ({ rejectedAt }) => toDistance(rejectedAt, now) },
    { title: 'ORG', cell: ({ org }) => org || '-' },
    { title: 'TYPE', cell: ({ type }) => type },
    { title: 'CODE', cell: codesInShort },
    { title: 'RETRIED', cell: ({ retry }) => retriedInWords(retry) },
  ]
  const ids: Column<Listed>[] = [
    { title: 'ID', cell: ({ id }) => shorten(id ?? '-', 48) },
    { title: 'REQUEST', cell: ({ requestId, batchId, org }) => (org === '' ? batchId : requestId) },
  ]
  const wide = toTable([...facts, ...ids], rows, Number.POSITIVE_INFINITY)
  if (widthOf(wide) <= width) return wide
  const first = toTable(facts, rows, width).split('\n')
  const second = toTable(ids, rows, width - 2).split('\n')
  return first.map((line, i) => `${line}\n  ${second[i]}`).join('\n')
}

const widthOf = (text: string): number => Math.max(...text.split('\n').map((line) => line.length))

const codesInShort = (row: Listed): string => {
  const [first = '-', ...others] = codesOf(row)
  return others.length === 0 ? first : `${first} +${others.length}`
}

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
