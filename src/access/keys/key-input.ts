import { invalidField } from '../../shared/errors.ts'
import { scopeNameProblem } from '../scopes.ts'
import { hasInvisible } from '../visible-text.ts'
import { endpointProblem, MAX_ENDPOINTS } from './allowed-endpoints.ts'

/** What a client may say about an API key. */
export interface KeyInput {
  readonly name?: string
  /** `*`: everything that the owner holds. */
  readonly scopes?: readonly string[]
  /** Empty: all. */
  readonly endpoints?: readonly string[]
  /** Unix seconds; 0 = never. */
  readonly expiry?: number
}

const MAX_NAME = 100
const MAX_SCOPES = 100
/** The longest time for which a rotated secret stays valid. */
const MAX_OVERLAP = 90 * 86_400

/** INVALID_BODY, naming the field. */
export function checkKeyInput(
  { name, scopes = [], endpoints = [], expiry = 0 }: KeyInput,
  now: number,
): void {
  if (name !== undefined) checkName(name)
  if (scopes.length > MAX_SCOPES)
    throw invalidField('scopes', `scopes must have at most ${MAX_SCOPES} entries.`)
  for (const scope of scopes) {
    const problem = scopeNameProblem(scope)
    if (problem) throw invalidField('scopes', `The scope ${JSON.stringify(scope)} ${problem}.`)
  }
  if (endpoints.length > MAX_ENDPOINTS)
    throw invalidField('endpoints', `endpoints must have at most ${MAX_ENDPOINTS} entries.`)
  for (const endpoint of endpoints) {
    const problem = endpointProblem(endpoint)
    if (problem) throw invalidField('endpoints', `The endpoint ${JSON.stringify(endpoint)} ${problem}.`)
  }
  if (expiry !== 0 && expiry <= now)
    throw invalidField(
      'expiry',
      'expiry must be in the future, in Unix seconds, or 0 for a key that does not expire.',
    )
}

function checkName(name: string): void {
  const problem =
    name === '' || [...name].length > MAX_NAME
      ? `must have 1 to ${MAX_NAME} characters`
      : name !== name.trim()
        ? 'must not start or end with a space'
        : hasInvisible(name)
          ? 'must not contain invisible or control characters'
          : undefined
  if (problem) throw invalidField('name', `name ${problem}.`)
}

/** INVALID_BODY for more than {@link MAX_OVERLAP}. */
export function checkOverlap(overlap: number): void {
  if (overlap > MAX_OVERLAP)
    throw invalidField('overlap', `overlap must be at most ${MAX_OVERLAP} seconds (90 days); got ${overlap}.`)
}
