/**
 * What `function_console_log` writes: without secrets, as traces show values. A flow may log whole requests, and every
 * user who may read the system log can read them.
 */
import type { RunRequest } from '../../blocks/run-request.ts'
import type { JsonValue } from '../../shared/json.ts'
import { Secrets, showValue } from './shown-value.ts'

/** Of JSON. The log itself keeps less of most values. */
const MOST_BYTES = 16_384

/** Those of a request are looked for once, however often its run logs. */
const ofRequests = new WeakMap<RunRequest, Secrets>()

export function loggedValue(
  value: JsonValue | undefined,
  request: RunRequest | undefined,
): { readonly message: string; readonly value: JsonValue | undefined } {
  const secrets = secretsOf(request)
  if (typeof value === 'string') {
    const text = secrets.hide(value)
    return { message: text, value: text }
  }
  const { text, whole } = showValue(value, secrets, MOST_BYTES)
  return { message: text, value: whole && value !== undefined ? JSON.parse(text) : undefined }
}

function secretsOf(request: RunRequest | undefined): Secrets {
  if (!request) return new Secrets()
  const known = ofRequests.get(request)
  const secrets = known ?? new Secrets()
  if (!known) {
    ofRequests.set(request, secrets)
    const { headers, query, path, body } = request
    secrets.collect([headers, query, path, body])
  }
  // Typed on a page, they are known only after the page's own flow.
  for (const password of request.visit?.passwords ?? []) secrets.noteWhole(password)
  return secrets
}
