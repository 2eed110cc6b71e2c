import type { FunctionDeclaration } from '../function-declaration.ts'
import { any, condition, list, object, text, texts } from './input-names.ts'

const objectIn = { name: 'object', type: object } as const
const names = { name: 'names', type: texts } as const
const entry = { kind: 'object', fields: { key: text, value: any }, open: false } as const

export const objectFunctions = [
  {
    name: 'keys',
    work: 3,
    parameters: [objectIn],
    gives: texts,
    help: 'The names of the fields.',
    example: 'keys({ a: 1, b: 2 })',
    result: ['a', 'b'],
  },
  {
    name: 'values',
    work: 3,
    parameters: [objectIn],
    gives: list,
    help: 'The values of the fields.',
    example: 'values({ a: 1, b: 2 })',
    result: [1, 2],
  },
  {
    name: 'entries',
    work: 4,
    parameters: [objectIn],
    gives: { kind: 'list', of: entry },
    help: 'A list with `key` and `value` of each field.',
    example: 'entries({ a: 1 })',
    result: [{ key: 'a', value: 1 }],
  },
  {
    name: 'fromEntries',
    work: 6,
    parameters: [{ name: 'list', type: list }],
    gives: object,
    help: 'An object of a list with `key` and `value` of each field. Of equal keys the last one counts.',
    example: "fromEntries([{ key: 'a', value: 1 }])",
    result: { a: 1 },
  },
  {
    name: 'pick',
    work: 8,
    parameters: [objectIn, names],
    gives: 'picked',
    help: 'The object with only the named fields.',
    example: "pick({ a: 1, b: 2 }, ['a'])",
    result: { a: 1 },
  },
  {
    name: 'omit',
    work: 8,
    parameters: [objectIn, names],
    gives: 'omitted',
    help: 'The object without the named fields.',
    example: "omit({ a: 1, b: 2 }, ['a'])",
    result: { b: 2 },
  },
  {
    name: 'merge',
    work: 8,
    parameters: [{ name: 'objects', type: object, rest: true }],
    gives: 'merged',
    help: 'One object with the fields of all; of equal names the last one counts.',
    example: 'merge({ a: 1, b: 2 }, { b: 3 })',
    result: { a: 1, b: 3 },
  },
  {
    name: 'has',
    parameters: [objectIn, { name: 'name', type: text }],
    gives: condition,
    help: 'Whether the object has the field, and it is not nothing.',
    example: "has({ a: 1 }, 'a')",
    result: true,
  },
] as const satisfies readonly FunctionDeclaration[]
