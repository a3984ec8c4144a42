import { isUtf8 } from 'node:buffer'
import { createAvroBytesFor, createStraightReader, recordIn } from '#schemas/byte-path/byte-path.js'
import { longestLine, tooLong } from '#schemas/csv-rows.js'
import type { RecordType } from '#schemas/record.js'
import { type Entry, type ToEntry, unreadable } from '../batches/entries.js'
import { countTokens, describeLossInLine, lossOf, mostNames } from './json-exact.js'
import { describeFaultInLine } from './json-fault.js'
import { afterMark, createIsClean, notUtf8, type OpenLines, type ReadNext, runTogether } from './lines.js'

/** NDJSON: a record on each line, read straight to Avro, or else parsed and validated; a line that is no JSON is refused. */
export const createOpenNdjson = (type: RecordType, toEntry: ToEntry): OpenLines => {
  const readStraight = createStraightReader(type)

  return (bytes, isLast) => {
    if (bytes.length < 3 && !isLast) return undefined
    const out = createAvroBytesFor(bytes)
    const isClean = createIsClean()
    let line = 0
    let isPassingOver = false

    const toOne = (bytes: Buffer, start: number, end: number): Entry => {
      if (!isClean(bytes) && !isUtf8(bytes.subarray(start, end))) return unreadable(bytes.subarray(start, end), notUtf8)
      const read = readStraight(bytes, start, out)
      // Beyond the end of the line there may be the rest of a record that was written over several lines.
      if (read >= 0 && skipBlanks(bytes, read, end) === end) return recordIn(out)
      return parseLine(bytes.subarray(start, end), toEntry)
    }

    const readNext: ReadNext = (bytes, at, isLast, into) => {
      // Millions of lines that hold nothing fit into a small body of gzip: here they cost next to nothing.
      if (!isPassingOver && bytes[at] === lineFeed) {
        line++
        return at + 1
      }
      const found = bytes.indexOf(lineFeed, at)
      const isWhole = found >= 0 || isLast
      const end = found < 0 ? bytes.length : found
      const next = found < 0 ? end : found + 1
      // By its length alone, blanks and all: not by how much of it has come, which depends on the network.
      const isTooLong = isPassingOver || end - at > longestLine
      if (!isWhole && !isTooLong) return -1
      if (!isPassingOver) {
        line++
        const first = skipBlanks(bytes, at, end)
        if (isTooLong || first < end) {
          into.entries.push(isTooLong ? unreadable(bytes.subarray(at, end), tooLong) : toOne(bytes, first, end))
          into.lines.push(line)
        }
      }
      if (isTooLong) into.passedOver += next - at
      isPassingOver = !isWhole
      return next
    }
    return { at: afterMark(bytes), meaning: 'ndjson', readNext, isWithinLine: () => isPassingOver }
  }
}

const lineFeed = 0x0a

/** The place after the last that is not blank. */
const endOf = (line: Buffer): number => {
  let end = line.length
  while (end > 0 && (line[end - 1] as number) <= 0x20) end--
  return end
}

/** The first place that is not blank, within one line. */
const skipBlanks = (bytes: Buffer, from: number, end: number): number => {
  let at = from
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at++
  return at
}

// Where the lines of a body were run together, that shows within the first few.
const mostLookedAt = 64 * 1024

// A record has some 20 values. JSON.parse takes long only where there are very many.
const mostValuesInLine = 1000

const parseLine = (line: Buffer, toEntry: ToEntry): Entry => {
  const counts = countTokens(line)
  if (counts.values > mostValuesInLine || counts.differentNames > mostNames)
    return unreadable(line, `the line holds more than ${mostValuesInLine} values or ${mostNames} names of fields`)
  const text = line.toString()
  try {
    const json: unknown = JSON.parse(text)
    const loss = lossOf(text, json, counts)
    return loss ? unreadable(line, describeLossInLine(loss)) : toEntry(json, () => line.subarray(0, endOf(line)))
  } catch {
    // JSON.parse's own message quotes the line; this one does not.
    const isRunTogether = /\}[ \t]*\{/.test(text.slice(0, mostLookedAt))
    return unreadable(
      line,
      `the line is not valid JSON: ${describeFaultInLine(text)}${isRunTogether ? `; ${runTogether}` : ''}`,
    )
  }
}
