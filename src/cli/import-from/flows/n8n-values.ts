/** Values of parameters of n8n: texts, and texts with `{{ … }}` in them, as values of pins. */
import type { JsonValue } from '../../../shared/json.ts'

/** What `$json` of a node, or of another one by its name, is in an expression here; undefined where it cannot be said. */
export interface NodeValues {
  /** Expression of the whole value; undefined where only parts of it have one. */
  readonly whole: string | undefined
  /** Expression of a field of it. */
  readonly part: (path: readonly string[]) => string | undefined
}

export interface ValueContext {
  readonly incoming: NodeValues | undefined
  readonly of: (node: string) => NodeValues | undefined
}

/** Of expressions that are looked at. */
const LONGEST = 2_000
const NAME = /^[A-Za-z_]\w*$/

/** The source of an expression, without its `=`; undefined for one that cannot be said. */
export function expressionOf(value: JsonValue, context: ValueContext): string | undefined {
  if (typeof value !== 'string' || !value.startsWith('=')) return JSON.stringify(value)
  const text = value.slice(1)
  if (text.length > LONGEST) return undefined
  const parts = text.split(/\{\{|\}\}/)
  if (parts.length % 2 === 0) return undefined
  const [before = '', only = '', behind = ''] = parts
  if (parts.length === 3 && before.trim() === '' && behind.trim() === '') return termOf(only, context)
  let written = ''
  for (const [at, part] of parts.entries()) {
    if (at % 2 === 0) written += part.replace(/[\\`$]/g, '\\$&')
    else {
      const term = termOf(part, context)
      if (term === undefined) return undefined
      written += `\${${term}}`
    }
  }
  return `\`${written}\``
}

/** A value of a pin: a constant, or an expression with its `=`. */
export function pinOf(value: JsonValue, context: ValueContext): JsonValue | undefined {
  const isPlain = typeof value !== 'string' || !/^[=@]/.test(value)
  if (isPlain) return value
  const expression = expressionOf(value, context)
  return expression === undefined ? undefined : `=${expression}`
}

function termOf(source: string, { incoming, of }: ValueContext): string | undefined {
  const text = source.trim()
  if (text === '$now') return 'now()'
  if (/^(?:-?\d{1,15}(?:\.\d{1,10})?|true|false|null)$/.test(text)) return text
  const quoted = /^"([^"\\]*)"$/.exec(text) ?? /^'([^'\\]*)'$/.exec(text)
  if (quoted) return JSON.stringify(quoted[1])
  const own = /^\$json\b(.*)$/.exec(text)
  if (own) return partOf(incoming, own[1] ?? '')
  const other =
    /^\$node\["([^"]+)"\]\.json/.exec(text) ??
    /^\$\('([^']+)'\)\.(?:item|first\(\)|last\(\))\.json/.exec(text)
  return other ? partOf(of(other[1] ?? ''), text.slice(other[0].length)) : undefined
}

function partOf(values: NodeValues | undefined, rest: string): string | undefined {
  if (!values) return undefined
  const path: string[] = []
  let left = rest
  while (left !== '') {
    const found = /^(?:\.([A-Za-z_]\w*)|\[["']([^"']+)["']\])/.exec(left)
    const name = found?.[1] ?? found?.[2] ?? ''
    if (!found || !NAME.test(name)) return undefined
    path.push(name)
    left = left.slice(found[0].length)
  }
  return path.length === 0 ? values.whole : values.part(path)
}

/** Of a value that one expression gives. */
export function valuesOf(whole: string): NodeValues {
  return { whole, part: (path) => [whole, ...path].join('.') }
}

const comparisons: Readonly<Record<string, (left: string, right: string) => string>> = {
  ...{ equals: (a, b) => `${a} == ${b}`, equal: (a, b) => `${a} == ${b}` },
  ...{ notEquals: (a, b) => `${a} != ${b}`, notEqual: (a, b) => `${a} != ${b}` },
  ...{ gt: (a, b) => `${a} > ${b}`, larger: (a, b) => `${a} > ${b}` },
  ...{ lt: (a, b) => `${a} < ${b}`, smaller: (a, b) => `${a} < ${b}` },
  ...{ gte: (a, b) => `${a} >= ${b}`, largerEqual: (a, b) => `${a} >= ${b}` },
  ...{ lte: (a, b) => `${a} <= ${b}`, smallerEqual: (a, b) => `${a} <= ${b}` },
  ...{ contains: (a, b) => `contains(${a}, ${b})`, notContains: (a, b) => `!contains(${a}, ${b})` },
  ...{ empty: (a) => `isEmpty(${a})`, isEmpty: (a) => `isEmpty(${a})`, notExists: (a) => `isEmpty(${a})` },
  ...{
    notEmpty: (a) => `!isEmpty(${a})`,
    isNotEmpty: (a) => `!isEmpty(${a})`,
    exists: (a) => `!isEmpty(${a})`,
  },
  ...{ true: (a) => `${a} == true`, false: (a) => `${a} == false` },
}

/** Undefined for an operation that is not known. */
export function comparisonOf(operation: string, left: string, right: string): string | undefined {
  return Object.hasOwn(comparisons, operation) ? comparisons[operation]?.(left, right) : undefined
}
