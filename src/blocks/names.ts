import { fieldNameProblem, parseFieldPath } from '../shared/field-path.ts'
import { safeHref } from '../shared/pages/page-content.ts'
import { isOneLine } from '../shared/texts/one-line.ts'
import { isOwnStorage, storageNameProblem } from '../storage/system-storages.ts'
import { LineError, PinError } from './block.ts'

/**
 * The storage that a blueprint may name. Names starting with `_` hold users, tokens and blueprints: no block reads or
 * writes them, however the name came to the pin. Throws PinError for `storage`.
 */
export function builderStorage(name: string, pin = 'storage'): string {
  const problem = storageNameProblem(name)
  if (problem) throw new PinError(pin, problem)
  if (isOwnStorage(name))
    throw new PinError(pin, 'starts with _, which is kept for the cluster’s own storages')
  return name
}

const LONGEST = 200

/** The name of a channel, as it was given. PinError for one that cannot be. */
export function channelName(pin: string, input: string): string {
  const name = input.trim()
  if (name === '' || name.length > LONGEST) throw new PinError(pin, `must be 1 to ${LONGEST} characters`)
  if (/\p{Cc}/u.test(name)) throw new LineError(pin, 'must not contain control characters')
  return name.toWellFormed()
}

const NAME = /^[\p{L}\p{N}_][\p{L}\p{N} _.:-]{0,127}$/u

/** A custom function's name without spaces around it. Throws PinError for one that cannot be. */
export function functionName(pin: string, written: string): string {
  const name = written.trim()
  if (NAME.test(name)) return name
  throw new PinError(
    pin,
    'must be 1 to 128 letters, digits, spaces and _ . : -, and start with a letter or digit',
  )
}

const TOOL = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

/** The name under which agents get it as a tool, or undefined where it is none. Throws PinError for `tool`. */
export function toolName(written: string): string | undefined {
  const name = written.trim()
  if (name === '') return undefined
  if (!TOOL.test(name))
    throw new PinError('tool', 'must be 1 to 64 letters, digits, _ and -, and start with a letter')
  if (ownTools.has(name)) throw new PinError('tool', 'is the name of a tool that Quoin has itself')
  return name
}

/** A field's dotted name on a pin `field`; `_meta.…` is allowed. Throws PinError. */
export function queryField(name: string): string {
  try {
    // Good names come from its memory; asking for the problem first would check each name on each search.
    parseFieldPath(name)
    return name
  } catch {
    const problem = fieldNameProblem(name) ?? 'cannot be read'
    throw new PinError('field', name === '' ? problem : `is not a field name: it ${problem}`)
  }
}

/** Where a browser may be sent: a path of our own or an http(s) address. Throws PinError for the pin. */
export function redirectTarget(pin: string, written: string): string {
  const to = safeHref(written)
  if (to === undefined || /^(?:mailto|tel):/i.test(to))
    throw new (isOneLine(written.trim()) ? PinError : LineError)(
      pin,
      'must be a path such as /tasks or an address that begins with https://',
    )
  return to
}

/** Names of the tools of `/mcp` that every cluster has: no function or endpoint is offered under one of them. */
export const ownTools: ReadonlySet<string> = new Set([
  ...['search', 'read', 'edit', 'check', 'test', 'try', 'explain', 'documents', 'plan', 'deploy', 'discard'],
])
