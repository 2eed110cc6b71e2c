import type { Parameter, ParameterType } from './function-declaration.ts'
import { kindOf } from './value-types.ts'

/** What keeps a value from a parameter, in words that finish "<parameter> …"; undefined when it fits. It is not nothing. */
export type ArgumentCheck = (value: unknown) => string | undefined

const TEXT = 1
const NUMBER = 2
const WHOLE = 4
const CONDITION = 8
const LIST = 16
const OBJECT = 32

const words: Readonly<Record<number, string>> = {
  [TEXT]: 'a text',
  [NUMBER]: 'a number',
  [WHOLE]: 'a whole number',
  [CONDITION]: 'a condition',
  [LIST]: 'a list',
  [OBJECT]: 'an object',
}

/** Undefined: takes any value. */
export function argumentCheck({ type }: Parameter): ArgumentCheck | undefined {
  const types = isSeveral(type) ? type : [type]
  if (types.some(({ kind }) => kind === 'any' || kind === 'item' || kind === 'nothing')) return undefined
  const mask = types.reduce((sum, one) => sum | maskOf(one), 0)
  const elements = elementsCheck(types)
  return (value) => {
    if ((kindsOf(value) & mask) === 0)
      return `must be ${wordsOf(mask)}; this is ${kindOf(value)}${adviceFor(mask, value)}`
    return elements && Array.isArray(value) ? elements(value) : undefined
  }
}

function isSeveral(type: Parameter['type']): type is readonly ParameterType[] {
  return Array.isArray(type)
}

function maskOf(type: ParameterType): number {
  switch (type.kind) {
    case 'text':
      return TEXT
    case 'number':
      return NUMBER
    case 'whole':
      return WHOLE
    case 'condition':
      return CONDITION
    case 'list':
    case 'items':
      return LIST
    case 'object':
      return OBJECT
    default:
      return 0
  }
}

function kindsOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TEXT
    case 'number':
      return Number.isInteger(value) ? NUMBER | WHOLE : NUMBER
    case 'boolean':
      return CONDITION
    default:
      return Array.isArray(value) ? LIST : OBJECT
  }
}

function wordsOf(mask: number): string {
  return Object.entries(words)
    .filter(([bit]) => (mask & Number(bit)) !== 0)
    .map(([, word]) => word)
    .join(' or ')
}

function adviceFor(mask: number, value: unknown): string {
  if (typeof value === 'string' && (mask & (NUMBER | WHOLE)) !== 0)
    return '. Write number(x) to make a number of it'
  return typeof value === 'number' && (mask & TEXT) !== 0 ? '. Write text(x) to make a text of it' : ''
}

/** Of a list of one kind of value: its elements, none of which may be nothing. */
function elementsCheck(
  types: readonly ParameterType[],
): ((list: readonly unknown[]) => string | undefined) | undefined {
  const list = types.find((one) => one.kind === 'list')
  if (list?.kind !== 'list' || list.of.kind === 'any') return undefined
  const mask = maskOf(list.of)
  if (mask === 0) return undefined
  return (values) => {
    const at = values.findIndex((one) => one === undefined || one === null || (kindsOf(one) & mask) === 0)
    return at < 0
      ? undefined
      : `must be a list of which each element is ${wordsOf(mask)}; element ${at} is ${kindOf(values[at])}`
  }
}
