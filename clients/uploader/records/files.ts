import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Catalogue } from '../../../schemas/catalogue.js'
import { nearest } from '../../../schemas/derive/nearest-name.js'
import type { RecordType } from '../../../schemas/record.js'
import type { Dialect } from '../../typescript/src/files/dialect.js'
import { firstBytes, mostFirstBytes } from '../read/bytes.js'
import { type FileForm, type Format, formatByName, formIn } from '../read/open-rows.js'
import { UsageError } from '../read/row.js'
import { recognise } from './recognise.js'

/** A file to upload, the type of its records, how it is read, and how it is written. */
export type Chosen = { file: string; type: RecordType; form: FileForm; size: number; dialect: Dialect }

type Choice = {
  type?: string | undefined
  format?: Format | undefined
  map?: ReadonlyMap<string, string>
  dialect?: Partial<Dialect>
}

/** The files that these paths name, those that others refer to first; of a folder, those whose names say type and format. */
export const chooseFiles = async (
  paths: readonly string[],
  choice: Choice,
  catalogue: Catalogue,
): Promise<{ files: Chosen[]; passedOver: string[] }> => {
  const passedOver: string[] = []
  const add = async (file: string, size: number, type: RecordType, format?: Format): Promise<void> => {
    const start = await firstBytes(file)
    const form = formIn(file, start, format)
    const isWhole = file !== '-' && start.length < mostFirstBytes
    const look = { file, start, isWhole, ...form, type, map: choice.map ?? new Map() }
    found.push({ file, type, form, size, dialect: await recognise(look, choice.dialect ?? {}) })
  }
  const found: Chosen[] = []
  for (const path of paths) {
    const { isFolder, size } = await look(path)
    if (!isFolder) {
      await add(path, size, typeOf(path, choice, catalogue), choice.format)
      continue
    }
    for (const name of (await readdir(path)).sort()) {
      if (isOurs(name)) continue
      const file = join(path, name)
      const inside = await look(file)
      const type = typeByName(name, catalogue)
      if (inside.isFolder || !type || !formatByName(name)) passedOver.push(file)
      else await add(file, inside.size, type)
    }
    if (found.length === 0)
      throw new UsageError(`no file in ${path} has the name of a type, such as shops.csv or shops-2026-01.ndjson.gz`)
  }
  const order = [...catalogue.all.keys()]
  const rank = ({ type }: Chosen) => order.indexOf(type.type)
  return { files: found.sort((a, b) => rank(a) - rank(b)), passedOver }
}

/** The type that a file's name begins with: shops.csv, shops-2026-01.ndjson.gz, shop_tags.csv, shops.csv.refused.csv. */
export const typeByName = (file: string, { all }: Pick<Catalogue, 'all'>): RecordType | undefined => {
  const stem = basename(file).toLowerCase().replaceAll('_', '-')
  return (
    [...all.values()]
      // shop-tags is not shop: the longest name that fits is meant.
      .filter(({ type }) => stem.startsWith(type) && !/^[a-z]/.test(stem.slice(type.length)))
      .sort((a, b) => b.type.length - a.type.length)[0]
  )
}

const typeOf = (file: string, { type }: Choice, catalogue: Catalogue): RecordType => {
  const known = [...catalogue.all.keys()]
  if (type !== undefined) {
    const found = catalogue.all.get(type)
    if (found) return found
    const meant = nearest(type, known)
    throw new UsageError(
      `there is no type ${type}: ${meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}`}`,
    )
  }
  const named = file === '-' ? undefined : typeByName(file, catalogue)
  if (named) return named
  const what = file === '-' ? 'standard input has no name' : `the name of ${basename(file)} begins with no type`
  throw new UsageError(`${what}: say what the records are with --type; types are ${known.join(', ')}`)
}

/** What uploads leave beside their files: journals, refused records. A refused file is sent by naming it. */
const isOurs = (name: string): boolean =>
  name.startsWith('.') || /\.weir-journal(\.|$)/.test(name) || /\.refused\.[a-z]+(\.old(-\d+)?)?$/.test(name)

const look = async (path: string): Promise<{ isFolder: boolean; size: number }> => {
  if (path === '-') return { isFolder: false, size: 0 }
  try {
    const found = await stat(path)
    if (!found.isDirectory() && !found.isFile())
      throw new UsageError(`${path} is no file that can be read twice: pipe it into standard input instead, which is -`)
    return { isFolder: found.isDirectory(), size: found.size }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new UsageError(`there is no file or folder ${path}: look for a slip in its name`)
    throw error
  }
}
