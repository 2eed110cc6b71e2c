import { parse } from 'node:querystring'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { jsonProblem } from '../../shared/json.ts'
import { bodyText } from './json-body.ts'

/** Names that would change the prototype of objects. */
export const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** A form as browsers send it: every value is text, a name that comes twice has a list. */
export function parseFormBody(bytes: Buffer): JsonObject | undefined {
  if (bytes.length === 0) return undefined
  // 0 = all: a form that is cut off silently would store half of what was sent. The body limit bounds it.
  const fields = parse(bodyText(bytes), '&', '=', { maxKeys: 0 })
  const entries = Object.entries(fields).map(([name, value]) => [name, value ?? ''] as const)
  const bad = entries.find(([name]) => FORBIDDEN.has(name))
  if (bad) throw new QuoinError('INVALID_BODY', `The form has a field named ${bad[0]}.`)
  const form: JsonObject = Object.fromEntries(entries)
  const problem = jsonProblem(form)
  if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The form ${problem}.`)
  return form
}
