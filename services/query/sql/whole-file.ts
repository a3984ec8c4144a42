import { Transform } from 'node:stream'

// ClickHouse has answered 200 before an error comes in the middle of a result. It then writes the error behind the rows, and a file that
// lacks the rest would look whole.

const longestTail = 16 * 1024

/** Passes a download on, and fails at its end where that is not the end of the result: then the connection is cut, and no file is whole. */
export const wholeFile = (format: 'CSVWithNames' | 'Parquet', exceptionTag: string | undefined): Transform => {
  let tail: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _, done) {
      tail =
        chunk.length >= longestTail ? chunk.subarray(-longestTail) : Buffer.concat([tail, chunk]).subarray(-longestTail)
      done(null, chunk)
    },
    flush(done) {
      done(isWhole(format, tail, exceptionTag) ? null : new Error('the result ended in an error of ClickHouse'))
    },
  })
}

const isWhole = (format: 'CSVWithNames' | 'Parquet', tail: Buffer, tag: string | undefined): boolean => {
  // A Parquet file ends as it begins, with these four letters.
  if (format === 'Parquet') return tail.subarray(-4).toString('latin1') === 'PAR1'
  const text = tail.toString('latin1')
  return tag === undefined ? !olderError.test(text) : !text.includes(`__exception__\r\n${tag}`)
}

const olderError = /Code: \d+\. DB::Exception: [\s\S]*\([A-Z_]+\) \(version [^\n]*\)\s*$/
