import type { Catalogue } from '../../catalogue.js'
import type { Field } from '../../field.js'

/** What samples are made from, for the Python SDK: clients/python/src/weir_client/sampled_types.py. */
export const pythonSampledTypesOf = (catalogue: Catalogue): string => {
  const types = [...catalogue.all.values()].map(({ type, id, fields, assigned }) => {
    const lines = Object.entries({ ...assigned, ...fields }).map(
      ([name, field]) =>
        `    "${name}": ${JSON.stringify({ ...(name in assigned && { assigned: true }), ...bare(field) })}`,
    )
    return `  "${type}": {\n   "id": "${id}",\n   "fields": {\n${lines.join(',\n')}\n   }\n  }`
  })
  return [
    '"""Derived from schemas/records; to write it anew: npm run publish-schemas"""',
    '',
    'import json',
    'from typing import Any, Dict',
    '',
    `SAMPLED_TYPES: Dict[str, Dict[str, Any]] = json.loads(r"""{\n${types.join(',\n')}\n}""")`,
    '',
  ].join('\n')
}

const bare = ({ about: _, ofPerson: __, ...field }: Field) => field
