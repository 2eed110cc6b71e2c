/** Arguments that are written out and fail in each run: the check refuses them with the message of the run. */
import { expect, test } from 'vitest'
import { evaluateText } from '../../../test/evaluate-expression.ts'
import { checkExpression } from '../language/check-expression.ts'
import { ExpressionError } from '../language/expression-error.ts'
import { parseExpression } from '../language/parse-expression.ts'
import { anyType } from '../language/value-types.ts'
import { knownDeclarations } from './callable-functions.ts'

function problemsOf(text: string): readonly string[] {
  const { expression } = parseExpression(text)
  if (!expression) throw new SyntaxError(text)
  const { problems } = checkExpression(expression, {
    typeOf: () => anyType,
    names: [],
    declarations: knownDeclarations(),
  })
  return problems.map(
    ({ severity, message, start, end }) => `${severity}: ${message} ${text.slice(start, end)}`,
  )
}

function thrownBy(text: string): string {
  try {
    return String(evaluateText(text, { day: '2026-01-31', code: 'AB' }))
  } catch (error) {
    if (error instanceof ExpressionError) return error.message
    throw error
  }
}

test.each([
  ["format(day, 'YYYY-MM-DD')", "'YYYY-MM-DD'"],
  ["parseDate(day, 'dd.MM.yyyy h o')", "'dd.MM.yyyy h o'"],
  ["parseDate(day, 'dd.MM.')", "'dd.MM.'"],
  ["today('Europe/Berlyn')", "'Europe/Berlyn'"],
  ["between(day, day, 'fortnights')", "'fortnights'"],
  ["startOf(day, 'decade')", "'decade'"],
  ['addTo(day, { days: 1, fortnight: 2 })', 'fortnight: 2'],
  ["matches(code, '[A-Z')", "'[A-Z'"],
  ["matches(code, '(?=A)')", "'(?=A)'"],
  ["hash('sha3', code)", "'sha3'"],
  ["formatNumber(1, 2, 'english please')", "'english please'"],
])('%s is refused at %s', (text, place) => {
  const said = thrownBy(text)
  expect(said).toMatch(/^\w+: \w+ /)
  expect(problemsOf(text)).toEqual([`refused: ${said} ${place}`])
})

test.each([
  "format(day, 'd MMMM yyyy', 'Europe/Berlin', 'de-DE')",
  "addTo(day, { day: 1, months: 2 }, 'UTC')",
  "matches(code, '^[A-Z]{2}$')",
  "hash('SHA-256', code)",
  'format(day, pattern, zone, locale)',
  "replace(code, '(', '[')",
  "{ zone: 'none', pattern: '(' }",
  "has({ zone: 1 }, 'zone')",
])('%s is not', (text) => {
  expect(problemsOf(text)).toEqual([])
})
