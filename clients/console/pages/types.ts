import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { FieldReference, TypeReference } from '../../typescript/src/endpoints.js'
import { may, useSession } from '../api/session.js'
import { Graph, type GraphEdge, type GraphNode } from '../components/graph.js'
import { html } from '../components/html.js'
import { kindWords, limitWords } from '../components/kinds.js'
import { Badge, Card, PageHead, Snippets, Table } from '../components/shown.js'
import { count } from '../components/words.js'
import { linkTo, type PageProps } from '../frame/route.js'

/** Every type with its fields, what refers to what, and an upload of it to copy. */
export const TypesPage = ({ query }: PageProps): VNode => {
  const { types } = useSession()
  const chosen = types.find(({ type }) => type === query.get('type'))
  const detail = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (chosen) detail.current?.scrollIntoView({ block: 'start' })
  }, [chosen?.type])
  const { nodes, edges } = graphOf(types, chosen?.type)
  return html`
    <${PageHead} title="Types" about="What can be uploaded. A line leads from a type to what it refers to: that has to be there first." />
    <${Card} title="Which type refers to which"><${Graph} title="The types, and which refers to which" nodes=${nodes} edges=${edges} /><//>
    <div ref=${detail} class="anchor">
      ${
        chosen
          ? html`<${TypeDetail} key=${chosen.type} type=${chosen} />`
          : html`<${Card} title="All types"><${Table} label="All types" isCards head=${html`<th scope="col">Type</th><th scope="col">What it is</th><th scope="col" class="number">Fields</th><th scope="col" class="number">In one request</th>`}>
        ${types.map((type) => html`<tr key=${type.type}><td><a href=${linkTo(['types'], { type: type.type })}>${type.type}</a></td><td class="text">${type.about}</td><td class="number" data-label="fields">${type.fields.length}</td><td class="number" data-label="in one request">${count(type.limit)}</td></tr>`)}
      <//><//>`
      }
    </div>`
}

const TypeDetail = ({ type }: { type: TypeReference }): VNode => {
  const { me } = useSession()
  return html`
  <${Card} title=${html`<code>${type.type}</code>`}>
    <p>${type.about} A record is known by <code>${type.id}</code>; one request carries up to ${count(type.limit)}.</p>
    <${Table} label=${`Fields of ${type.type}`} isCards head=${html`<th scope="col">Field</th><th scope="col">What it holds</th><th scope="col">Required</th><th scope="col">About</th>`}>
      ${type.fields.map(
        (field) => html`<tr key=${field.name}>
        <td class="nowrap"><code>${field.name}</code><${Since} since=${field.since} /></td>
        <td class="text">${field.to ? html`id of <a href=${linkTo(['types'], { type: field.to })}>${field.to}</a>` : kindWords(field)}${limitWords(field) && html`<span class="soft small"> ${limitWords(field)}</span>`}</td>
        <td data-label="required">${field.required ? html`<strong>yes</strong>` : html`<span class="soft">no</span>`}</td>
        <td class="text soft">${field.about}${field.of_person && html` <span class="small">(${field.of_person})</span>`}</td>
      </tr>`,
      )}
    <//>
    ${type.fields.some(({ since }) => since !== undefined) && html`<p class="soft small">Clients and schemas of an earlier version do not have the fields that are marked.</p>`}
  <//>
  <${Card} title="To copy">
    <${Snippets} label=${`An upload of ${type.type}`} texts=${type.snippets} />
    <p class="soft small">The key stands in the variable <code>WEIR_KEY</code>; <code>weir-client</code> is at <a href="/downloads/">downloads</a>. ${may(me, `${type.type}:write`) && html`Or <a href=${linkTo(['upload'], { type: type.type })}>drop a file</a>.`}</p>
  <//>`
}

/** The mark beside a field that an earlier release lacks: since which release the field is there. */
const Since = ({ since }: Pick<FieldReference, 'since'>): VNode | null => {
  if (since === undefined) return null
  return html` <${Badge} state="changed" words=${since === null ? 'new, in no release yet' : `since ${since}`} />`
}

/** In columns: what refers to most stands on the left, what refers to nothing on the right. */
const graphOf = (
  types: readonly TypeReference[],
  chosen: string | undefined,
): { nodes: GraphNode[]; edges: GraphEdge[] } => {
  const byName = new Map(types.map((type) => [type.type, type]))
  const depths = new Map<string, number>()
  const depthOf = (name: string, path: readonly string[] = []): number => {
    const known = depths.get(name)
    if (known !== undefined) return known
    const targets = (byName.get(name)?.references ?? []).filter(({ to }) => to !== name && !path.includes(to))
    const depth = Math.max(-1, ...targets.map(({ to }) => depthOf(to, [...path, name]))) + 1
    depths.set(name, depth)
    return depth
  }
  const deepest = Math.max(...types.map(({ type }) => depthOf(type)))
  const nodes = types.map(
    ({ type, references }): GraphNode => ({
      id: type,
      label: type,
      note: references.length === 0 ? 'refers to nothing' : `refers to ${new Set(references.map(({ to }) => to)).size}`,
      column: deepest - depthOf(type),
      href: linkTo(['types'], { type }),
      ...(type === chosen && { tone: 'self' }),
    }),
  )
  const pairs = new Set(types.flatMap(({ type, references }) => references.map(({ to }) => `${type} ${to}`)))
  const edges = [...pairs].map((pair): GraphEdge => {
    const [from = '', to = ''] = pair.split(' ')
    return { from, to }
  })
  return { nodes, edges }
}
