import { type ObjectOf, type Properties, type Schema, text, type ValueOf } from './values.js'

/** An address and what can be done there: route, reading of query and body, OpenAPI and the clients' types follow from it. */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{name}` where a part of the address is a value. */
  path: string
  /** The operation's name in the document. */
  name: string
  tag: Tag
  summary: string
  about?: string
  /** What the key must allow, and what else would do; without it any key will do. */
  scope?: string
  orScope?: string
  isForOperators?: true
  /** Whether it needs no key. */
  isOpen?: true
  parameters?: Properties
  query?: Properties
  /** Whether unknown parameters are passed over, as they were before endpoints were declared; all others refuse them. */
  passesOver?: true
  /** Whether the name of an unknown parameter is left out of the answer: programs put what users typed into these addresses. */
  hidesUnknown?: true
  /** What to say about parameters that are looked for here and stand elsewhere, by their names. */
  elsewhere?: Readonly<Record<string, string>>
  takesKey?: true
  takesPrefer?: true
  /** Other headers that it is asked with; the handler reads them by itself. */
  headers?: Properties
  body?: EndpointBody
  answers: Readonly<Record<number, EndpointAnswer>>
}

export type Tag =
  | 'uploads'
  | 'interactions'
  | 'requests'
  | 'rejections'
  | 'waiting'
  | 'feeds'
  | 'analytics'
  | 'persons'
  | 'reference'
  | 'keys'
  | 'operators'
  | 'health'

export type EndpointBody = {
  /** As JSON; without it only as lines. */
  schema?: Schema
  example?: object
  isOptional?: true
  /** Whether it is read as it comes, and may be of any length. */
  isStreamed?: true
  /** The same as lines. */
  lined?: { [mediaType: string]: Content }
  /** Where what others give in the query stands, in words. */
  insteadOfQuery?: string
}

export type Content = { schema: Schema; example?: unknown }
export type EndpointAnswer = {
  about: string
  schema?: Schema
  example?: unknown
  headers?: Readonly<Record<string, Schema>>
  /** Where it is not JSON. */
  content?: { [mediaType: string]: Content }
}

export const endpoint = <const Rest extends Omit<Endpoint, keyof Named>>(
  method: Endpoint['method'],
  path: string,
  name: string,
  tag: Tag,
  rest: Rest,
): Named & Rest => ({ method, path, name, tag, ...rest })
type Named = Pick<Endpoint, 'method' | 'path' | 'name' | 'tag'>

/** What an endpoint is asked with, and what it may answer, as TypeScript. */
export type QueryOf<E> = E extends { query: infer P extends Properties } ? ObjectOf<P> : Record<never, never>
export type BodyOf<E> = E extends { body: { schema: infer S } } ? ValueOf<S> : undefined
export type ParametersOf<E> = E extends { parameters: infer P extends Properties } ? ObjectOf<P> : Record<never, never>
export type AnswerOf<E> = E extends { answers: infer A } ? Answered<A[keyof A]> : never
type Answered<A> = A extends { schema: infer S } ? ValueOf<S> : never

/** The answers of an endpoint that has one, with the status 200. */
export const answered = <S extends Schema>(about: string, schema: S) => ({ 200: { about, schema } })

/** A text of this media type, each line or event of which is as `each` says. */
export const textOf = (mediaType: string, each: Schema, example: string, about?: string): Record<string, Content> => ({
  [mediaType]: { schema: text(about, { contentMediaType: mediaType, contentSchema: each }), example },
})
