import { describe, expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { functionContext } from '../../../test/function-context.ts'
import {
  declaredFunctions,
  declaredMethods,
  functionGroups,
  methodGroups,
} from '../language/declared/functions.ts'
import { functionBodies, methodBodies } from './function-bodies.ts'

const declared = Object.values(functionGroups).flat()
const methods = Object.values(methodGroups).flat()

test.each([...declared, ...methods].map(({ example, result }) => ({ example, result })))(
  'the example $example gives what it says',
  ({ example, result }) => {
    const value = evaluateText(example, {}, functionContext())
    if (result === undefined) expect(value).toBeDefined()
    else expect(value).toEqual(result)
  },
)

test('each function and method is declared once and has a body', () => {
  expect(declaredFunctions().size).toBe(declared.length)
  expect([...declaredFunctions().keys()].toSorted()).toEqual([...functionBodies().keys()].toSorted())
  for (const on of ['text', 'list', 'number'] as const) {
    expect(declaredMethods()[on].size).toBe(methodGroups[on].length)
    expect([...declaredMethods()[on].keys()].toSorted()).toEqual([...methodBodies(on).keys()].toSorted())
  }
})

describe('every declaration', () => {
  test.each([...declared, ...methods])('$name has sound parameters, and an example that uses it', (one) => {
    expect(one.example).toContain(`${one.name}(`)
    expect(one.help).toMatch(/^[A-Z].*\.$/)
    const firstOptional = one.parameters.findIndex(({ optional }) => optional)
    if (firstOptional !== -1)
      expect(one.parameters.slice(firstOptional).every(({ optional }) => optional)).toBe(true)
    expect(one.parameters.slice(0, -1).some(({ rest }) => rest)).toBe(false)
  })
})
