/** Every example of docs/expressions.md gives what the page says, and every mistake its message. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkExpression } from '../src/expressions/language/check-expression.ts'
import { declaredFunctions, declaredMethods } from '../src/expressions/language/declared/functions.ts'
import { literalProblem } from '../src/expressions/language/literals/literal-problem.ts'
import { parseExpression } from '../src/expressions/language/parse-expression.ts'
import { textType, type ValueType, wholeType } from '../src/expressions/language/value-types.ts'
import { evaluateText } from './evaluate-expression.ts'

const page = await readFile(new URL('../docs/expressions.md', import.meta.url), 'utf8')
const names = JSON.parse(/^\{\n {2}"row"[\s\S]+?^\}$/m.exec(page)?.[0] ?? '')

/** The rows of all tables with these columns, without the marks of code. */
function tableRows(...columns: readonly string[]): string[][] {
  const found: string[][] = []
  let inside = false
  for (const line of page.split('\n')) {
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|'))
    if (!line.startsWith('|')) inside = false
    else if (cells.join() === columns.join()) inside = true
    else if (inside && !/^-+$/.test(cells[0] ?? '')) found.push(cells.map(code))
  }
  return found
}

function code(cell: string): string {
  return /^(`+) ?([\s\S]*?) ?\1$/.exec(cell)?.[2] ?? cell
}

const tasks = tableRows('Task', 'Expression', 'Result')
const mistakes = tableRows('Expression', 'Message')

test('the page has the tasks and mistakes', () => {
  expect([tasks.length, mistakes.length]).toEqual([25, 9])
})

test.each(tasks)('%s', (_task, expression = '', result = '') => {
  expect(evaluateText(expression, names)).toEqual(JSON.parse(result))
})

const types: Readonly<Record<string, ValueType>> = { qty: wholeType, code: textType }

/** What a builder reads of an expression that is wrong. */
function problemOf(text: string): string | undefined {
  const { expression, problem } = parseExpression(text)
  if (!expression) return problem.message
  const { problems } = checkExpression(expression, {
    typeOf: (name) => types[name],
    names: Object.keys(types),
    declarations: {
      functions: declaredFunctions(),
      methods: declaredMethods(),
      literalProblem,
    },
  })
  return problems[0]?.message
}

test.each(mistakes)('the mistake %s', (expression = '', message) => {
  expect(problemOf(expression)).toBe(message)
})
