/** A worked question of docs/for-analysts.md: what stands in its section, and the query in it. */
export type WorkedQuestion = { question: string; sql: string; section: string }

/** The questions of the chapter "Ten questions", in their order. */
export const questionsIn = (page: string): WorkedQuestion[] => {
  const [, chapter = ''] = /^## Ten questions\n(.*?)^## /ms.exec(page) ?? []
  return chapter
    .split(/^### /m)
    .slice(1)
    .map((section) => ({
      question: section.slice(0, section.indexOf('\n')),
      sql: /^```sql\n(.*?)^```/ms.exec(section)?.[1] ?? '',
      section,
    }))
}

/** Their views without the database: each of an organisation's two analysts has one of their own, in which the console's queries run. */
const inOwnDatabase = (sql: string): string => sql.replaceAll(/\bweir\./g, '')

/** They as the console's SQL page has them. */
export const examplesFile = (page: string): string =>
  [
    '// Made by npm run publish-schemas from the worked questions of docs/for-analysts.md: change them there.',
    '',
    'export const examples = [',
    ...questionsIn(page).map(
      ({ question, sql }) =>
        `  {\n    question: ${quoted(question)},\n    sql: \`${inOwnDatabase(sql)
          .trimEnd()
          .replaceAll(/[\\`$]/g, '\\$&')}\`,\n  },`,
    ),
    ']',
    '',
  ].join('\n')

const quoted = (text: string): string => (text.includes("'") ? JSON.stringify(text) : `'${text}'`)
