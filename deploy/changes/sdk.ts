import ts from 'typescript'
import { adds, breaks, type PublishedChange, type PublishedFiles } from './change.js'

/** Whether users of the SDK write values of a file's types, or only read them; the query and the body of an endpoint are written, too. */
const files = {
  'clients/typescript/src/record-types.ts': 'written',
  'clients/typescript/src/events.ts': 'read',
  'clients/typescript/src/endpoints.ts': 'read',
} as const

/** The derived types of the SDK. Its functions are held by its tests. */
export const changesInSdk = (before: PublishedFiles, after: PublishedFiles): PublishedChange[] =>
  Object.entries(files).flatMap(([path, use]) => {
    const [old, now] = [interfacesIn(before.get(path)), interfacesIn(after.get(path))]
    const changes = [...old].flatMap(([name, members]) => {
      const same = now.get(name)
      return same ? changesInMembers(name, use, members, same) : [breaks(`the type ${name} is gone`)]
    })
    const added = [...now.keys()].filter((name) => !old.has(name))
    return [...changes, ...added.map((name) => adds(`the type ${name} is new`))]
  })

export const sdkFiles = Object.keys(files)

type Member = { isOptional: boolean; kinds: string[] }

/** The members of each exported interface, those of types within it as `summary.records`. */
const interfacesIn = (text = ''): Map<string, Map<string, Member>> => {
  const source = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest)
  const printer = ts.createPrinter({ removeComments: true })
  const write = (node: ts.Node) => printer.printNode(ts.EmitHint.Unspecified, node, source).replaceAll(/\s+/g, ' ')

  const membersOf = (members: readonly ts.TypeElement[], before = ''): [string, Member][] =>
    members.filter(ts.isPropertySignature).flatMap(({ name, questionToken, type }): [string, Member][] => {
      if (!type) return []
      const path = before + name.getText(source).replaceAll("'", '')
      const isOptional = questionToken !== undefined
      const element = ts.isArrayTypeNode(type) ? type.elementType : type
      if (ts.isTypeLiteralNode(element)) {
        const kinds = [ts.isArrayTypeNode(type) ? 'list' : 'object']
        return [[path, { isOptional, kinds }], ...membersOf([...element.members], `${path}.`)]
      }
      return [[path, { isOptional, kinds: (ts.isUnionTypeNode(type) ? type.types.map(write) : [write(type)]).sort() }]]
    })
  return new Map(
    source.statements
      .filter(ts.isInterfaceDeclaration)
      .map(({ name, members }) => [name.text, new Map(membersOf([...members]))]),
  )
}

const changesInMembers = (
  name: string,
  fileUse: 'written' | 'read',
  before: ReadonlyMap<string, Member>,
  after: ReadonlyMap<string, Member>,
): PublishedChange[] => {
  const useOf = (path: string) => (/\.(query|body)(\.|$)/.test(path) ? 'written' : fileUse)
  const kept = [...before].flatMap(([path, old]) => {
    const now = after.get(path)
    return now ? changesInMember(`${name}.${path}`, useOf(path), old, now) : [breaks(`${name}.${path} is gone`)]
  })
  const isNew = (path: string) => path !== '' && after.has(path) && !before.has(path)
  // Of a new endpoint or object its name says enough.
  const added = [...after].filter(([path]) => isNew(path) && !isNew(path.slice(0, Math.max(0, path.lastIndexOf('.')))))
  return [
    ...kept,
    ...added.map(([path, { isOptional, kinds }]) =>
      useOf(path) === 'written' && !isOptional
        ? breaks(`${name}.${path} is new and required`)
        : adds(`${name}.${path} is new${isOptional ? ' and optional' : ''}: ${kinds.join(' | ')}`),
    ),
  ]
}

const changesInMember = (at: string, use: 'written' | 'read', before: Member, after: Member): PublishedChange[] => {
  const changes: PublishedChange[] = []
  if (before.isOptional !== after.isOptional) {
    const isFree = after.isOptional === (use === 'written')
    changes.push({ breaking: !isFree, about: `${at} is ${after.isOptional ? 'optional' : 'always there'} now` })
  }
  if (before.kinds.join() !== after.kinds.join()) {
    const isWider = before.kinds.every((kind) => after.kinds.includes(kind))
    const gained = after.kinds.filter((kind) => !before.kinds.includes(kind))
    // Readers have to expect words that they do not know.
    const isFree = isWider && (use === 'written' || gained.every((kind) => /^['"]/.test(kind)))
    changes.push({
      breaking: !isFree,
      about: `${at} was ${before.kinds.join(' | ')} and is ${after.kinds.join(' | ')}`,
    })
  }
  return changes
}
