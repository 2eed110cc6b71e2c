import { parse } from 'node:querystring'
import { QuoinError } from '../../shared/errors.ts'
import type { JsonObject } from '../../shared/json.ts'
import { jsonProblem } from '../../shared/json.ts'
import { bodyText } from './json-body.ts'

/** Names that would change the prototype of objects. */
export const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Fields of a form, counted in its bytes before it is parsed: a megabyte of short names took 0.7 to 1.7 s, and anyone may send
 * one to any address. So many take 30 ms.
 */
export const MOST_FORM_FIELDS = 10_000

/** A form as browsers send it: every value is text, a name that comes twice has a list. */
export function parseFormBody(bytes: Buffer): JsonObject | undefined {
  if (bytes.length === 0) return undefined
  if (fieldsIn(bytes) > MOST_FORM_FIELDS)
    throw new QuoinError('INVALID_BODY', `The form has more than ${MOST_FORM_FIELDS} fields: send fewer.`)
  // 0 = all: a form that is cut off silently would store half of what was sent.
  const fields = parse(bodyText(bytes), '&', '=', { maxKeys: 0 })
  const entries = Object.entries(fields).map(([name, value]) => [name, value ?? ''] as const)
  const bad = entries.find(([name]) => FORBIDDEN.has(name))
  if (bad) throw new QuoinError('INVALID_BODY', `The form has a field named ${bad[0]}.`)
  const form: JsonObject = Object.fromEntries(entries)
  const problem = jsonProblem(form)
  if (problem !== undefined) throw new QuoinError('INVALID_BODY', `The form ${problem}.`)
  return form
}

/** Stops at the first one too many. */
function fieldsIn(bytes: Buffer): number {
  let fields = 1
  for (let at = bytes.indexOf(0x26); at >= 0 && fields <= MOST_FORM_FIELDS; at = bytes.indexOf(0x26, at + 1))
    fields += 1
  return fields
}
