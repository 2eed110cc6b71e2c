/**
 * Every function and method × each argument that may be large: its body spends in proportion. What bounds how long an expression holds
 * the event loop is what its functions spend, so a body that spends nothing must be listed here with the reason.
 */
import { describe, expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { functionContext } from '../../../test/function-context.ts'
import { isJsonObject } from '../../shared/json.ts'
import { functionGroups, methodGroups } from '../language/declared/functions.ts'
import {
  ArgumentError,
  type FunctionBody,
  type FunctionDeclaration,
  type Parameter,
} from '../language/function-declaration.ts'
import { functionBodies, methodBodies } from './function-bodies.ts'

/** `function argument`, or one kind of it, for which a body spends nothing, by the reason. */
const FREE: Readonly<Record<string, string>> = {
  'Every text of a call costs one for 1,000 characters, enough for what Node copies, searches or decodes as a whole': `
    trim text, text.trim self, text.trimStart self, text.trimEnd self, capitalize text, truncate text,
    slice textOrList text, slice textOrList wide, text.slice self, text.at self, text.toString self, text value,
    split separator, text.split separator, join separator, list.join separator,
    replace part, replace by, text.replace self, text.replace part, text.replace by, text.replaceAll part, text.replaceAll by,
    padStart text, padStart fill, text.padStart self, text.padStart fill, padEnd text, padEnd fill, text.padEnd self, text.padEnd fill,
    repeat text, text.repeat self, text.concat self, text.concat texts,
    contains textOrList text, contains textOrList wide, contains part, startsWith text, startsWith part text, endsWith text,
    endsWith part text, text.includes self, text.includes part text, text.startsWith self, text.startsWith part text,
    text.endsWith self, text.endsWith part text, text.indexOf self, text.indexOf part, text.lastIndexOf part,
    base64 text, fromBase64 text`,
  'One place is looked at, whatever the size': `
    first list, last list, at list, list.at self, length textOrList list, has object, has name,
    isEmpty value text, isEmpty value wide, isEmpty value list`,
  'The names of the other argument are looked up, not all of its own': 'pick object',
  'A value of another kind is not compared': `
    list.includes value, list.indexOf value, isNumber value, isDate value, isEmail value, isUrl value, isGuid value`,
  'It is handed on as it is': 'reduce start, list.reduce start, append value',
  'A zone is not looked up for a time that has its own':
    'addTo zone, endOf zone, year zone, month zone, weekday zone',
}

const SIZES = [9_000, 4_500, 900, 90]
/** Of two characters that are one in the form of Unicode in which texts are compared. */
const WIDE = 'e\u0301'
/** Characters of a text for one element. */
const LETTERS = 10

interface Case {
  readonly declaration: Pick<FunctionDeclaration, 'name' | 'parameters' | 'example'>
  readonly body: FunctionBody
  /** Of a method: the text, list or number before it. */
  readonly self: boolean
}

const cases = new Map<string, Case>()
const bodies = functionBodies()
for (const declaration of Object.values(functionGroups).flat())
  cases.set(declaration.name, { declaration, body: bodyIn(bodies, declaration.name), self: false })
for (const on of ['text', 'list', 'number'] as const)
  for (const declaration of methodGroups[on])
    cases.set(`${on}.${declaration.name}`, {
      declaration,
      body: bodyIn(methodBodies(on), declaration.name),
      self: true,
    })

function bodyIn(all: ReadonlyMap<string, FunctionBody>, name: string): FunctionBody {
  const body = all.get(name)
  if (!body) throw new TypeError(`${name} has no body.`)
  return body
}

/** The texts of the arguments of the example, a method's text, list or number first. */
function argumentsOf({ declaration: { name, example }, self }: Case): string[] {
  const at = self ? example.lastIndexOf(`.${name}(`) : example.indexOf(`${name}(`)
  const parts: string[] = []
  let [depth, quote, part] = [0, '', '']
  for (const character of example.slice(at + name.length + (self ? 2 : 1))) {
    if (quote !== '') quote = character === quote ? '' : quote
    else if (`'"\``.includes(character)) quote = character
    else if ('([{'.includes(character)) depth += 1
    else if (')]}'.includes(character)) depth -= 1
    if (depth < 0) break
    if (depth === 0 && quote === '' && character === ',') {
      parts.push(part)
      part = ''
    } else part += character
  }
  return [...(self ? [example.slice(0, at)] : []), ...parts, part].filter((text) => text.trim() !== '')
}

/** In place of an arrow function, as bodies get it: gives a part of the element, or a number or condition where one is wanted. */
function arrowOf({ type }: Pick<Parameter, 'type'>): (item: unknown) => unknown {
  const gives = 'gives' in type ? type.gives : 'any'
  if (gives !== 'any') return () => (gives === 'number' ? 1 : false)
  return (item) => (isJsonObject(item) ? Object.values(item)[0] : Array.isArray(item) ? item[0] : item)
}

/** The value with so many elements, fields or tens of characters; undefined for one that has no size. */
function enlarged(value: unknown, size: number): unknown {
  if (typeof value === 'string') return value.repeat(Math.ceil((size * LETTERS) / Math.max(1, value.length)))
  if (Array.isArray(value)) return Array.from({ length: size }, (_, at) => value[at % value.length])
  if (isJsonObject(value)) {
    const [first] = Object.values(value)
    return {
      ...value,
      ...Object.fromEntries(Array.from({ length: size }, (_, at) => [`f${at}`, first ?? at])),
    }
  }
  return undefined
}

function spentOn(body: FunctionBody, values: readonly unknown[]): number {
  let spent = 0
  const spend = (elements: number, work = elements) => {
    spent += Math.max(elements, work)
  }
  body(functionContext({ spend }), ...values)
  return spent
}

const kindOf = (value: unknown) =>
  typeof value === 'string'
    ? value.startsWith(WIDE)
      ? 'wide'
      : 'text'
    : Array.isArray(value)
      ? 'list'
      : isJsonObject(value)
        ? 'object'
        : 'other'

/** The value of the example, texts beyond ASCII too, and values of other kinds that the argument may have. */
function valuesOf({ type }: Pick<Parameter, 'type'>, value: unknown): unknown[] {
  const types = Array.isArray(type) ? type : [type]
  const takes = (...requested: string[]) =>
    types.some(({ kind }) => kind === 'any' || requested.includes(kind))
  const others: Readonly<Record<string, unknown>> = {
    ...(takes('text') && { text: 'ab' }),
    ...(takes('list', 'items') && { list: ['a', 'b'] }),
    ...(takes('object') && { object: { a: 1 } }),
  }
  const wide = takes('text') ? [WIDE] : []
  return [...Object.values({ ...others, [kindOf(value)]: value }), ...wide]
}

/** JSON and base64 cannot be repeated. */
const LARGE: Readonly<Record<string, (size: number) => string>> = {
  'jsonParse text': (size) => JSON.stringify(Array(size * 5).fill(1)),
  'fromBase64 text': (size) => 'YWJj'.repeat(size * 3),
}

/** What is spent on an argument of some size, the largest that the function takes; undefined where it refuses all of them. */
function measured({ body }: Case, values: readonly unknown[], at: number, large: (size: number) => unknown) {
  for (const size of SIZES) {
    try {
      return { size, spent: spentOn(body, values.with(at, large(size))) }
    } catch (error) {
      if (!(error instanceof ArgumentError)) throw error
    }
  }
  return undefined
}

/** Arguments that may be large and that the body spends nothing, or not in proportion, for: `function argument kind`. */
function unpaid(name: string, one: Case): string[] {
  const own = { name: 'self', type: [] }
  const parameters = [...(one.self ? [own] : []), ...one.declaration.parameters]
  const values = argumentsOf(one).map((text, at) =>
    text.includes('=>') ? arrowOf(parameters[at] ?? own) : evaluateText(text),
  )
  const places = parameters.flatMap((parameter, at) => {
    if (at > values.length) return []
    const input = `${name} ${parameter.name}`
    return valuesOf(parameter, values[at]).flatMap((value) => {
      if (enlarged(value, 1) === undefined) return []
      const large = LARGE[input] ?? ((size: number) => enlarged(value, size))
      const found = measured(one, values.toSpliced(at, 1, value), at, large)
      const least = (found?.size ?? 0) * (typeof value === 'string' ? LETTERS / 1_000 : 1)
      return found && found.spent < least ? [`${input} ${kindOf(value)}`] : []
    })
  })
  return [...new Set(places)]
}

const free = Object.values(FREE).flatMap((places) => places.split(',').map((place) => place.trim()))
const isFree = (place: string) => free.includes(place) || free.includes(place.replace(/ \w+$/, ''))
const found = new Map([...cases].map(([name, one]) => [name, unpaid(name, one)]))

describe('a large argument is paid for', () => {
  test.each([...found])('%s', (_name, places) => {
    expect(places.filter((place) => !isFree(place))).toEqual([])
  })

  test('what is free is listed for nothing else', () => {
    const places = [...found.values()].flat().flatMap((place) => [place, place.replace(/ \w+$/, '')])
    expect(free.filter((place) => !places.includes(place))).toEqual([])
  })

  test.each<[string, FunctionBody]>([
    ['spends nothing', () => 0],
    ['spends the same for every list', (context) => context.spend(500)],
    ['spends for a part of it', (context, list) => context.spend(Array.isArray(list) ? list.length / 2 : 0)],
  ])('a body that %s is found', (_name, body) => {
    const list = { name: 'list', type: { kind: 'list', of: { kind: 'any' } } } as const
    const declaration = { name: 'f', parameters: [list], example: 'f([1])' }
    expect(unpaid('f', { declaration, body, self: false })).toEqual(['f list list'])
  })
})
