/** A failure in ClickHouse's form: a code, the code's name, a sentence. */
export class ClickHouseError extends Error {
  readonly code: number
  readonly type: string
  constructor(code: number, type: string, message: string) {
    super(message)
    this.code = code
    this.type = type
  }
}

export const refusal = (code: number, type: string, message: string) => new ClickHouseError(code, type, message)

/**
 * The failure that the engine threw; an error without a ClickHouse code is a fault of our own code. The engine knows one user, `default`,
 * under whose name it refuses: `user`, who has signed in, reads their own.
 */
export const toClickHouseError = (error: unknown, user = engineUser): ClickHouseError => {
  const { code, type, message } = error instanceof ClickHouseError ? error : readError(error)
  return refusal(code, type, message.startsWith(`${engineUser}: `) ? user + message.slice(engineUser.length) : message)
}
const engineUser = 'default'

const readError = (error: unknown): ClickHouseError => {
  const text = error instanceof Error ? error.message : String(error)
  const found = /^Code: (\d+)\. DB::Exception: ([\s\S]*) \((\w+)\)\s*$/.exec(text)
  if (found === null) return refusal(1002, 'UNKNOWN_EXCEPTION', text)
  return refusal(Number(found[1]), found[3] ?? '', withoutWrapping(found[2] ?? ''))
}

export const errorBody = (error: ClickHouseError, version: string): string =>
  `Code: ${error.code}. DB::Exception: ${error.message} (${error.type}) (version ${version} (official build))\n`

/** The HTTP status for an error code, as in ClickHouse's own exceptionCodeToHTTPStatus. */
export const statusOf = (code: number): number => {
  const found = Object.entries(CODES).find(([, codes]) => codes.includes(code))
  return Number(found?.[0] ?? 500)
}

// The engine wraps some errors in a second "Code: …", and names the file from which it read the data; a server does neither.
const withoutWrapping = (message: string): string =>
  message
    .replace(/^(?:Code: \d+\. DB::Exception: )+/, '')
    .replace(/(?: \(\w+\) \(version [^)]*\)\.?)+$/, '')
    .replace(/:? ?\(in file\/uri [^)]*\)/g, '')
    .replace(/: data for INSERT was parsed from file/g, '')

const CODES: Record<number, number[]> = {
  400: [6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676],
  401: [194],
  403: [192, 193, 497, 512, 516],
  404: [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511],
  408: [159],
  411: [381],
  413: [229],
  415: [779],
  501: [48],
  503: [76, 209, 439],
}
