import type { FastifyRequest } from 'fastify'
import type { PageVisit } from '../../blocks/page-visit.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import type { PageMessages } from '../../pages/messages.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { PageForm } from '../../shared/pages/page-content.ts'
import { patternBudget } from '../../shared/texts/pattern-budget.ts'
import { openHeaders } from '../server/hooks.ts'
import { type FieldOf, inputsOf } from './field-rules-of.ts'
import { inputWithRules } from './input-rule.ts'
import { pageAddress } from './page-origin.ts'
import type { Posted, PostedFile } from './posted.ts'
import { readInput } from './read-input.ts'

export interface ReadForm {
  /** By field; what was not sent is not there. Files are still to be stored: see `files`. */
  readonly values: JsonObject
  /** What is wrong, by field. Empty: everything fits. */
  readonly errors: ReadonlyMap<string, string>
  /** The values of inputs of the type password. */
  readonly passwords: readonly string[]
  /** Files of the form's file inputs, and whether the input takes several. */
  readonly files: readonly { readonly file: PostedFile; readonly multiple: boolean }[]
}

/**
 * Reads what was sent with a form by the rules of its inputs. Names that the form has no input for are left out.
 * `timeZone`: of times that are typed without one.
 */
export function readForm(
  form: PageForm,
  posted: Posted,
  fieldOf: FieldOf,
  { messages, timeZone }: { readonly messages: PageMessages; readonly timeZone: string },
): ReadForm {
  const reading = { messages, timeZone, spend: patternBudget() }
  const values: Record<string, JsonValue> = {}
  const errors = new Map<string, string>()
  const passwords: string[] = []
  const files: ReadForm['files'][number][] = []
  for (const node of inputsOf(form)) {
    const validated = inputWithRules(node, fieldOf(form, node))
    const { input } = validated
    if (input.disabled) continue
    if (input.type === 'file') {
      const sent = posted.files.filter(({ field }) => field === input.name)
      const kept = input.multiple ? sent : sent.slice(0, 1)
      files.push(...kept.map((file) => ({ file, multiple: input.multiple === true })))
      if (input.required && kept.length === 0) errors.set(input.name, messages('field.required'))
      continue
    }
    const read = readInput(validated, posted.all(input.name), reading)
    if ('error' in read) errors.set(input.name, read.error)
    else if (read.value !== undefined) values[input.name] = read.value
    if (input.type === 'password') passwords.push(...posted.all(input.name))
  }
  return { values, errors, passwords, files }
}

/** What no parameter may be called: it would reach into the prototype of whatever object it is put in. */
const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

/** The request as blocks see it: without anything that opens doors. */
export function pageRequest(
  request: FastifyRequest,
  path: Readonly<Record<string, string>>,
  visit: PageVisit,
): RunRequest {
  const headers = openHeaders(request.headers)
  const address = pageAddress(request.url)
  const names = [...new Set(address.query.keys())].filter((name) => !FORBIDDEN.has(name))
  const query = names.map((name) => {
    const values = address.getAll(name)
    return [name, values.length === 1 ? (values[0] ?? '') : values] as const
  })
  return {
    method: request.method,
    url: address.href,
    headers,
    ip: request.ip,
    query: Object.fromEntries(query),
    path,
    body: undefined,
    user: request.identity?.user,
    ...(request.identity && { scopes: request.identity.scopes }),
    visit,
  }
}
