/**
 * A visible computed field may read a hidden one. What such an expression says when it cannot be computed goes to the writer, so no
 * function, method or operator may quote the value: each part of every example of the language is replaced by a hidden value that does not fit.
 */
import { describe, expect, test } from 'vitest'
import { functionContext } from '../../../test/function-context.ts'
import { functionGroups, methodGroups } from '../../expressions/language/declared/functions.ts'
import { parseExpression } from '../../expressions/language/parse-expression.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { compileFieldExpression } from './field-expression.ts'

const SECRET = 'zq-9173-zq'
const VALUES: readonly JsonValue[] = [
  SECRET,
  91738264,
  [SECRET],
  { [SECRET]: SECRET },
  `${SECRET} `.repeat(40),
]

const examples = [...Object.values(functionGroups), ...Object.values(methodGroups)]
  .flat()
  .map(({ name, example }): [string, string] => [name, example])
const operators = [
  '1 + 2',
  '1 - 2',
  '1 / 2',
  '-1',
  '1 < 2',
  "'a' < 'b'",
  '[...[1]]',
  '({ ...{ a: 1 } })',
  "({ ['a']: 1 })",
]

/** The texts that come of an expression when one of its parts is replaced. */
function replaced(text: string): string[] {
  const { expression } = parseExpression(text)
  const places = new Set<string>()
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return
    if ('start' in part && 'end' in part) places.add(`${part.start} ${part.end}`)
    for (const inner of Object.values(part)) walk(inner)
  }
  walk(expression)
  return [...places].map((place) => {
    const [start = 0, end = 0] = place.split(' ').map(Number)
    return `${text.slice(0, start)}doc.secret${text.slice(end)}`
  })
}

function refusal(text: string, secret: JsonValue): string | undefined {
  const doc: JsonObject = { secret }
  try {
    compileFieldExpression('told', text).value({ doc, user: undefined, context: functionContext() })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('a refused computed field does not tell a hidden value', () => {
  test.each([...examples, ...operators.map((text): [string, string] => [text, text])])(
    '%s',
    (_name, example) => {
      for (const text of replaced(example))
        for (const value of VALUES) {
          const said = refusal(text, value)
          if (said !== undefined)
            expect({ text, said }).not.toMatchObject({ said: expect.stringMatching(/zq|91738264|91,738/) })
        }
    },
  )
})
