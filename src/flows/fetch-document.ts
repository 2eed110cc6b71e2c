/** The OpenAPI document of an API, fetched as the requests of flows are: to hosts that are allowed, also behind redirects. */
import { PinError } from '../blocks/block.ts'
import { sharedAgent } from '../blocks/http/guarded-agent.ts'
import { outgoingUrl, sendRequest } from '../blocks/http/send-request.ts'
import { MOST_DOCUMENT_BYTES } from '../records/operations/operations-thread.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { RunEnvironment } from './run/run-environment.ts'

const TIMEOUT_SECONDS = 30

/** Throws INVALID_BODY for an address that may not be reached, UNAVAILABLE where no document came. */
export async function fetchDocument(
  { allowedHosts, clock }: Pick<RunEnvironment, 'allowedHosts' | 'clock'>,
  address: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  try {
    const headers = {
      accept: 'application/json, */*;q=0.5',
      'user-agent': 'quoin',
      'accept-encoding': 'identity',
    }
    const request = { url: outgoingUrl(address), method: 'GET', headers, body: undefined }
    const limits = { timeout: TIMEOUT_SECONDS, signal, now: clock, maxSize: MOST_DOCUMENT_BYTES }
    const answer = await sendRequest(request, await sharedAgent(allowedHosts()), limits)
    if (answer.code === 200) return answer.bytes
    throw new QuoinError('UNAVAILABLE', `The server of the document replied with status ${answer.code}.`)
  } catch (error) {
    if (error instanceof PinError) throw invalidField('url', `The ${error.pin} ${error.message}.`)
    throw error
  }
}
