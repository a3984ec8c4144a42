import { allFigures, type ServiceFigure } from '../../../deploy/observability/figures.js'

const declared = new Map(allFigures().map((figure) => [figure.name, figure]))

/** What is wrong with a query of Prometheus, by the figures that the services declare: names and labels that there are none of. */
export const strangersIn = (query: string): string[] => {
  const withoutTexts = query.replaceAll(/"[^"]*"/g, '""')
  const asked = [...withoutTexts.matchAll(/\b((?:weir|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)]
  const found = asked.map(([, name = '', selector = '']) => ({ name, figure: find(name), labels: labelsIn(selector) }))
  const grouped = [...withoutTexts.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(
    ([, list = '']) => list.match(/\w+/g) ?? [],
  )
  const known = new Set(['le', ...found.flatMap(({ figure }) => figure?.labels ?? [])])
  return [
    ...(found.length === 0 ? ['it asks for no figure of Weir'] : []),
    ...found.filter(({ figure }) => !figure).map(({ name }) => `there is no ${name}`),
    ...found.flatMap(({ name, figure, labels }) =>
      labels
        .filter((label) => figure && ![...figure.labels, 'le'].includes(label))
        .map((label) => `${name} has no ${label}`),
    ),
    ...grouped.filter((label) => !known.has(label)).map((label) => `none of its figures has ${label}`),
  ]
}

/** The labels that a query's answer has, where it says so. */
export const groupsOf = (query: string): string[] => query.match(/by \(([\w, ]*)\)/)?.[1]?.split(', ') ?? []

const find = (name: string): ServiceFigure | undefined => {
  const whole = declared.get(name)
  // A histogram is asked for by its parts alone.
  if (whole) return whole.type === 'histogram' ? undefined : whole
  const histogram = declared.get(name.replace(/_(bucket|sum|count)$/, ''))
  return histogram?.type === 'histogram' ? histogram : undefined
}

const labelsIn = (selector: string): string[] => [...selector.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label)
