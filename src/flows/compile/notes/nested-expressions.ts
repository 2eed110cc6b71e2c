import { parseExpression } from '../../../expressions/language/parse-expression.ts'
import type { Steps } from '../../../shared/in-turns.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import type { Node } from '../blueprint-graph.ts'
import type { DeployNote } from './deploy-note.ts'

/** Of one pin: more values would take as long as the rest of a deploy. */
const MOST_VALUES = 1_000
/** A key whose text is an expression of its own: of a column, for each of its cells. */
const OWN_EXPRESSION = 'format'

/** Texts in a list or an object of a pin that were probably meant as expressions: an expression is always the whole pin. */
export function* nestedExpressions(nodes: readonly Node[]): Steps<DeployNote[]> {
  const notes: DeployNote[] = []
  for (const { block, literals } of nodes) {
    for (const [pin, value] of literals) {
      if (typeof value !== 'object') continue
      yield
      const text = expressionIn(value, { left: MOST_VALUES })
      if (text === undefined) continue
      const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)} …` : text)
      const message = `${pin} contains the text ${shown}, which is not calculated: an expression is the whole pin. Write the pin as one, such as =[{ field: "size", options: env.SIZES }].`
      notes.push({ block: block.guid, pin, message, level: 'warn' })
    }
  }
  return notes
}

function expressionIn(value: JsonValue, budget: { left: number }): string | undefined {
  if (--budget.left < 0) return undefined
  if (typeof value === 'string')
    return /^=\s*[^\s=]/.test(value) && parseExpression(value.slice(1)).expression ? value : undefined
  const inside = Array.isArray(value) ? value : isJsonObject(value) ? partsOf(value) : []
  for (const one of inside) {
    const found = expressionIn(one, budget)
    if (found !== undefined) return found
  }
  return undefined
}

function partsOf(value: Readonly<Record<string, JsonValue>>): readonly JsonValue[] {
  return Object.entries(value).flatMap(([key, one]) => (key === OWN_EXPRESSION ? [] : [one]))
}
