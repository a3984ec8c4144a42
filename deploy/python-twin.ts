// The Python SDK's client for asyncio: the one without, with `await` where it waits. Two clients by hand would drift apart.

/** clients/python/src/weir_client/aio.py, made from client.py. */
export const asyncTwinOf = (client: string): string => {
  const [, ...body] = client.split('"""').slice(1)
  const text = body.join('"""')
  const methods = text.split(/(?=^ {4}def )/m).map((method) => (waits.test(method) ? withAwait(method) : method))
  return renamed.reduce((twin, [from, to]) => twin.replaceAll(from, to), `"""${about}"""${methods.join('')}`)
}

const about = 'The client for programs with asyncio. Made from client.py; to write it anew: npm run publish-schemas'

const waiting =
  /self\._run\(|self\._make\(|self\._driver\.(?:run|close)\(|self\._feeds\.page\(|self\._events\.__next__\(|self\._store\.(?:load|save)\(|self\.close\(/
const waits = new RegExp(`${waiting.source}|def __enter__`)

const withAwait = (method: string): string =>
  method
    .replace(/^ {4}def /, '    async def ')
    .replaceAll(/self\._store\.(load\(\)|save\(\w+\))/g, 'waited(self._store.$1)')
    .replaceAll(
      /(?<!def )(waited\(self|self\._(?:run|make)\(|self\._driver\.(?:run|close)\(|self\._feeds\.page\(|self\._events\.__next__\(|self\.close\()/g,
      'await $1',
    )

const renamed: [RegExp, string][] = [
  [/\bIterator\b/g, 'AsyncIterator'],
  [/\b__(iter|next|enter|exit)__/g, '__a$1__'],
  [/\bfrom \.recorder\b/g, 'from .aio_recorder'],
  [/\bfrom \.driving\.threads\b/g, 'from .driving.tasks'],
  [/\b(ByType|Clock|Driver|HttpTransport|Recorder|Weir)\b(?! (?:at|its|the)\b)/g, 'Async$1'],
  [/import store_of\b/g, 'import store_of, waited'],
  [/import Store, store_of\b/g, 'import Store, store_of, waited'],
]
