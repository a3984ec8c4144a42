import type { Compatibility, Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { compatibility, subjectsOf } from '../provision/subjects.js'
import { type Examined, unless, wrong } from './finding.js'

export type SubjectFacts = {
  subject: string
  /** Whether this Weir's schema is registered there. */
  isRegistered: boolean
  /** The rule of the subject; undefined where it has none of its own. */
  rule: Compatibility | undefined
}

const atOnce = 8

export const lookAtRegistry = async (registry: Registry, catalogue: Catalogue): Promise<SubjectFacts[]> => {
  const left = subjectsOf(catalogue).values()
  const found: SubjectFacts[] = []
  const worker = async () => {
    for (const { subject, schema } of left)
      found.push({
        subject,
        isRegistered: await registry.isRegistered(subject, schema),
        rule: await registry.findCompatibility(subject),
      })
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return found
}

export const examineRegistry = (found: readonly SubjectFacts[]): Examined => {
  const missing = found.filter(({ isRegistered }) => !isRegistered)
  const loose = found.filter(({ isRegistered, rule }) => isRegistered && rule !== compatibility)
  const nameOf = ([first, ...others]: readonly SubjectFacts[]) =>
    `${first?.subject}${others.length > 0 ? ` and ${others.length} more` : ''}`
  return {
    part: 'registry',
    about: `${found.length - missing.length} schemas of Weir`,
    findings: unless([
      [
        missing.length === 0,
        wrong(`${nameOf(missing)}: this Weir's schema is not registered; services wait for it`, '"weir provision"'),
      ],
      [
        loose.length === 0,
        wrong(
          `${nameOf(loose)}: the rule is ${loose[0]?.rule ?? 'that of the registry'} instead of ${compatibility}: a schema that breaks readers would be taken`,
          '"weir provision" sets it',
        ),
      ],
    ]),
  }
}
