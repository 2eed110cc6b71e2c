/** What a pin holds, as an expression, and an expression as something plainer: a value or a wire. */
import type { Entry, Expression, Spread } from '../../../expressions/language/expression.ts'
import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { SavedInPin } from '../../../shared/blueprint.ts'
import type { JsonValue } from '../../../shared/json.ts'
import type { Catalogue } from '../model/block-description.ts'
import { connect, setExpression, setLiteral } from '../model/changes/flow-changes.ts'
import { type Flow, isFilled, type PinPlace, type Wire } from '../model/flow.ts'
import { wireProblem } from '../model/pins/wire-check.ts'
import { namesInFlow } from './block-refs.ts'
import { isScopeName } from './parsed-pin.ts'
import { fieldText, valueInField } from './template-text.ts'

export type PinMode = 'value' | 'expression' | 'text'

/** Whether anything is on the pin. */
/** How the pin is shown. `chosen`: what was asked for; `text`: see {@link textOfPin}. A template is text with values again. */
export function modeOf(
  saved: SavedInPin | undefined,
  chosen: PinMode | undefined,
  text: string | undefined,
): PinMode {
  if (saved?.expression === undefined) return isFilled(saved) ? 'value' : (chosen ?? 'value')
  if (chosen === 'expression' || text === undefined) return 'expression'
  return chosen === 'text' || saved.expression.startsWith('`') ? 'text' : 'expression'
}

/** What the pin holds as text with values; undefined where it is more than that. */
export function textOfPin(saved: SavedInPin | undefined, flow: Flow): string | undefined {
  if (!saved || !isFilled(saved)) return ''
  if (saved.value !== undefined) return typeof saved.value === 'object' ? undefined : String(saved.value)
  const expression = expressionOf(saved, flow)
  const text = fieldText(expression)
  if (text !== undefined) return text
  return /^[\w$]+(\.[\w$]+)+$/.test(expression) ? valueInField(expression) : undefined
}

/** The expression that gives what the pin has now: its value, or the out-pin that its wire comes from. */
function expressionOf(saved: SavedInPin | undefined, flow: Flow): string {
  if (saved?.expression !== undefined) return saved.expression
  const [wire] = saved?.from ?? []
  if (wire) return referenceText(wire, flow)
  return saved?.value === undefined ? '' : JSON.stringify(saved.value)
}

function referenceText({ block, pin }: PinPlace, flow: Flow): string {
  const name = namesInFlow(flow).get(block) ?? ''
  return `${isScopeName(name) ? 'blocks.' : ''}${name}.${pin}`
}

/** The wire that a reference stands for where one can be drawn. */
function wireInPlace(flow: Flow, catalogue: Catalogue, to: PinPlace, text: string): Wire | undefined {
  const { expression } = parseExpression(text)
  const root = expression?.root
  if (root?.kind !== 'member' || root.of.kind !== 'name') return undefined
  const { name, inBlocks } = root.of
  if (!inBlocks && isScopeName(name)) return undefined
  const block = [...namesInFlow(flow)].find(([, one]) => one === name)?.[0]
  if (block === undefined) return undefined
  const wire = { from: { block, pin: root.key }, to }
  return wireProblem(setLiteral(flow, to.block, to.pin, undefined), catalogue, wire) === undefined
    ? wire
    : undefined
}

/** The value of an expression in which nothing is named or called; undefined for any other. */
function constantOf(text: string): JsonValue | undefined {
  const { expression } = parseExpression(text)
  return expression && constant(expression.root)
}

/** The pin without its expression: with the value or the wire that means the same, or with nothing. */
export function withoutExpression(flow: Flow, catalogue: Catalogue, to: PinPlace, text: string): Flow {
  const wire = wireInPlace(flow, catalogue, to, text)
  return wire ? connect(flow, catalogue, wire) : setLiteral(flow, to.block, to.pin, constantOf(text))
}

/** The pin with an expression in place of its value or wire. */
export function withExpression(flow: Flow, { block, pin }: PinPlace, saved: SavedInPin | undefined): Flow {
  return setExpression(flow, block, pin, expressionOf(saved, flow))
}

function constant(part: Expression): JsonValue | undefined {
  switch (part.kind) {
    case 'literal':
      return part.value
    case 'unary': {
      const of = constant(part.of)
      return part.operator === '-' && typeof of === 'number' ? -of : undefined
    }
    case 'template':
      return part.values.length === 0 ? part.texts.join('') : undefined
    case 'list': {
      const items = part.elements.map((one) => (one.kind === 'spread' ? undefined : constant(one)))
      return items.every((item) => item !== undefined) ? items : undefined
    }
    case 'object':
      return constantObject(part.entries)
    default:
      return undefined
  }
}

function constantObject(entries: readonly (Entry | Spread)[]): JsonValue | undefined {
  const fields = entries.map((one): [string, JsonValue | undefined] =>
    one.kind === 'entry' ? [one.key, constant(one.value)] : ['', undefined],
  )
  const known = fields.filter((one): one is [string, JsonValue] => one[1] !== undefined)
  return known.length === fields.length ? Object.fromEntries(known) : undefined
}
