import type { Catalogue } from '../../catalogue.js'
import type { Field } from '../../field.js'
import type { RecordType } from '../../record.js'

/** The Python SDK's types of records: clients/python/src/weir_client/record_types.py. */
export const pythonRecordTypesOf = (catalogue: Catalogue): string => {
  const { interaction } = catalogue
  const named = [...catalogue.uploads.values()].map((type) => ({ type, name: `${pascal(type.type)}Record` }))
  const all = [...named, { type: interaction, name: 'Interaction' }]
  return [
    '"""Derived from schemas/records; to write it anew: npm run publish-schemas"""',
    '',
    'from __future__ import annotations',
    '',
    'from dataclasses import dataclass',
    'from datetime import date, datetime',
    'from decimal import Decimal',
    'from typing import TYPE_CHECKING, Any, Callable, Dict, Literal, Optional, TypedDict, Union',
    'from uuid import UUID',
    '',
    'if TYPE_CHECKING:',
    '    from .aio import Uploads as AsyncUploads',
    '    from .client import Uploads',
    ...all.flatMap(({ type, name }) => classesOf(type, name)),
    '',
    '',
    '@dataclass(frozen=True)',
    'class RecordType:',
    '    """`name` is the path segment, `id` the field that identifies a record, `limit` how many one request may carry."""',
    '',
    '    name: str',
    '    id: str',
    '    limit: int',
    '    # What each field takes.',
    '    fields: Dict[str, str]',
    '',
    '',
    'RECORD_TYPES = {',
    ...all.flatMap(({ type }) => [
      `    "${type.type}": RecordType(`,
      `        "${type.type}",`,
      `        "${type.id}",`,
      `        ${type.limit},`,
      '        {',
      ...Object.entries(type.fields).map(([name, { kind }]) => `            "${name}": "${kind}",`),
      '        },',
      '    ),',
    ]),
    '}',
    ...byType('ByType', 'Uploads', named),
    ...byType('AsyncByType', 'AsyncUploads', named),
  ]
    .join('\n')
    .concat('\n')
}

const classesOf = (type: RecordType, name: string): string[] => {
  const fields = Object.entries(type.fields)
  const linesOf = (isRequired: boolean) =>
    fields
      .filter(([, field]) => Boolean(field.required) === isRequired)
      .flatMap(([field, kind]) => [
        ...(kind.about ? [`    # ${kind.about}`] : []),
        `    ${field}: ${isRequired ? typeOf(kind) : `Optional[${typeOf(kind)}]`}`,
      ])
  return [
    '',
    '',
    `class _${name}Required(TypedDict):`,
    ...linesOf(true),
    '',
    '',
    `class ${name}(_${name}Required, total=False):`,
    `    """${type.about}"""`,
    '',
    ...linesOf(false),
  ]
}

/** A class with an attribute for each type: which records it takes is known to whoever checks types. */
const byType = (name: string, uploads: string, named: readonly { type: RecordType; name: string }[]): string[] => [
  '',
  '',
  `class ${name}:`,
  ...named.map(({ type, name: record }) => `    ${snake(type.type)}: ${uploads}[${record}]`),
  '',
  '    def _set_types(self, of: Callable[[str], Any]) -> None:',
  ...named.map(({ type }) => `        self.${snake(type.type)} = of("${type.type}")`),
]

const typeOf = (field: Field): string => {
  switch (field.kind) {
    case 'instant':
      return 'Union[str, datetime]'
    case 'moment':
      return 'Union[str, int, datetime]'
    case 'date':
      return 'Union[str, date]'
    case 'number':
      return 'Union[float, Decimal]'
    case 'boolean':
      return 'bool'
    case 'choice':
      return `Literal[${field.of.map((value) => `"${value}"`).join(', ')}]`
    case 'uuid':
    case 'reference':
    case 'item':
      return 'Union[str, UUID]'
    case 'text':
    case 'country':
      return 'str'
    default:
      return field satisfies never
  }
}

const pascal = (name: string): string => name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
const snake = (name: string): string => name.replaceAll('-', '_')
