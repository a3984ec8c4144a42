import { marts } from '../marts/all.js'
import { exampleOf, type Kept, type Mart } from '../marts/mart.js'
import { segmentRules } from '../marts/segments/named.js'
import { database } from './names.js'

/** docs/marts.md */
export const martsPage = (): string => `${[introduction, overview, ...marts.map(sectionOf), segments].join('\n\n')}\n`

const introduction = `# Marts: ready answers for analysts

<!-- Made by npm run publish-schemas from schemas/marts: change the descriptions there. -->

Views in ClickHouse's database \`${database}\`, beside those of the records ([for-analysts.md](for-analysts.md)). They show what is current: a
new version of a record replaces the one before, and a deleted record no longer counts. The figures are those of this moment. In an organisation
with 200 000 transactions and interactions or more (\`MARTS_KEPT_FROM\`), the marts that would take seconds are kept as tables and lag behind: by
seconds or minutes, which grow with the rows (\`customers_overview\` of ten million transactions: five minutes); \`weir.marts_as_of\` tells. Each view has \`org_id\`; an analyst's own login sees one organisation. Days are days of UTC. A transaction happened when it was \`created\`, or when it was
accepted where that was not said. Money is exact: sums of decimals, in the unit that the organisation gives amounts in. An interaction belongs to
its \`student_id\`, or else to the customer with its \`user_id\`.`

const overview = [
  '| view | answers |',
  '| --- | --- |',
  ...marts.map(({ name, about }) => `| [\`${name}\`](#${name}) | ${about} |`),
].join('\n')

const sectionOf = (mart: Mart): string => {
  const { name, about, grain, from, columns, kept } = mart
  return [
    `## ${name}`,
    `${about} One row of \`${exampleOf(mart)}\`: ${grain}.${from.length > 0 ? ` From ${from.join(', ')}.` : ''}${kept ? keptWords(kept) : ''}`,
    [
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...Object.entries(columns).map(([column, each]) => `| \`${column}\` | \`${each.type}\` | ${each.about} |`),
    ].join('\n'),
  ].join('\n\n')
}

const keptWords = ({ parts }: Kept): string =>
  ` Kept for large organisations${parts ? ', and made anew in parts' : ''}.`

const segments = [
  '## The segments',
  'Each score from 1 to 5 is a fifth of the customers of the organisation who have bought; customers with the same value have the same score. The ' +
    'first rule that holds names the segment:',
  [
    '| segment | rule | who they are |',
    '| --- | --- | --- |',
    ...segmentRules.map(
      ({ segment, rule, about }) => `| ${segment} | ${rule === 'true' ? 'all others' : `\`${rule}\``} | ${about} |`,
    ),
  ].join('\n'),
].join('\n\n')
