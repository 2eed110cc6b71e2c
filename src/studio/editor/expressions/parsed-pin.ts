import { type NameUse, namesOf, type ParsedExpression } from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import { propertiesTexts } from '../../texts/properties.ts'

interface ParsedPin {
  /** undefined: the text is no expression. */
  readonly expression: ParsedExpression | undefined
  /** What it reads of blocks. */
  readonly uses: readonly NameUse[]
}

/** Pins are never changed in place, so that each expression of a flow is parsed once. */
const known = new WeakMap<SavedInPin, ParsedPin>()

export function parsedPin(pin: SavedInPin): ParsedPin {
  const before = known.get(pin)
  if (before) return before
  const { expression } = parseExpression(pin.expression ?? '')
  const parsed = { expression, uses: expression ? blockUses(expression) : [] }
  known.set(pin, parsed)
  return parsed
}

/** What an expression reads, each path once: `goods.document.price`, `params.limit`. */
export function namesRead(pin: SavedInPin): readonly (readonly string[])[] {
  const { expression } = parsedPin(pin)
  const paths = expression
    ? namesOf(expression).map(({ name, inBlocks, path }) => [...(inBlocks ? ['blocks'] : []), name, ...path])
    : []
  return [...new Map(paths.map((path) => [path.join('.'), path])).values()]
}

/** The names that mean blocks. */
export function blockUses(expression: ParsedExpression): readonly NameUse[] {
  return namesOf(expression).filter(({ name, inBlocks }) => inBlocks || !isScopeName(name))
}

/** Names in expressions that mean something of the run and no block. */
export interface ScopeName {
  readonly name: string
  readonly help: string
}

export const scopeNames: readonly ScopeName[] = [
  { name: 'params', help: propertiesTexts.paramsHelp },
  { name: 'query', help: propertiesTexts.queryHelp },
  { name: 'body', help: propertiesTexts.bodyHelp },
  { name: 'headers', help: propertiesTexts.headersHelp },
  { name: 'user', help: propertiesTexts.userHelp },
  { name: 'request', help: propertiesTexts.requestHelp },
  { name: 'env', help: propertiesTexts.envHelp },
  { name: 'item', help: propertiesTexts.itemHelp },
  { name: 'index', help: propertiesTexts.indexHelp },
]

export const documentName: ScopeName = { name: 'doc', help: propertiesTexts.docHelp }

/** Of what a column of a table shows. */
export const cellNames: readonly ScopeName[] = [
  { name: 'value', help: propertiesTexts.valueHelp },
  { name: 'doc', help: propertiesTexts.rowHelp },
]

const input = new Set([...scopeNames, documentName].map(({ name }) => name))

export function isScopeName(name: string): boolean {
  return input.has(name)
}
