/** What a client of sign-in providers sends with: the guard of `http_request`, and secrets of the cluster. */
import type { CustomFetch } from 'openid-client'
import { PinError } from '../blocks/block.ts'
import { sharedAgent } from '../blocks/http/guarded-agent.ts'
import { outgoingUrl, sendRequest } from '../blocks/http/send-request.ts'
import { QuoinError } from '../shared/errors.ts'
import type { Flows } from './flows.ts'

/** Bytes of a reply: a token with 200 groups, or the facts of a provider, have some 20 KiB. */
const MOST_BYTES = 512 * 1024
/** In seconds. */
const LIMITS = { timeout: 10, isFixed: true } as const
/** In the audit log, in place of a block. */
const USE = 'sign-in provider'
const WITHOUT_BODY = new Set([204, 205, 304])

export interface ProviderRequests {
  readonly fetch: CustomFetch
  readonly secret: (name: string, to: URL) => string
}

/** `maxSize`: bytes of a reply; what is longer is not read to its end. */
export function providerRequests(
  { environment }: Pick<Flows, 'environment'>,
  maxSize = MOST_BYTES,
): ProviderRequests {
  return {
    async fetch(address, { method, headers, body, signal }) {
      const agent = await sharedAgent(environment.allowedHosts())
      const text = body === undefined || body === null ? undefined : String(body)
      const limits = { ...LIMITS, maxSize, signal: signal ?? new AbortController().signal }
      try {
        const url = outgoingUrl(address)
        // What it sends may go nowhere else.
        const request = { url, method, headers: { ...headers }, body: text, follow: false } as const
        const answer = await sendRequest(request, agent, limits)
        const type = answer.headers['content-type']
        return new Response(WITHOUT_BODY.has(answer.code) ? null : Buffer.from(answer.bytes), {
          status: answer.code,
          headers: typeof type === 'string' ? { 'content-type': type } : {},
        })
      } catch (error) {
        if (error instanceof PinError)
          throw new QuoinError('UNAVAILABLE', `The address of the sign-in provider ${error.message}.`)
        if (!(error instanceof QuoinError)) throw error
        // What is a fault of its flow where a block sends is one of the provider here.
        throw new QuoinError('UNAVAILABLE', `No reply of the sign-in provider: ${error.message}.`)
      }
    },
    secret(name, to) {
      const opened = environment.secrets.open(name, to)
      if ('problem' in opened) throw new QuoinError('UNAVAILABLE', `The sign-in provider ${opened.problem}.`)
      environment.secrets.used({ name, blueprint: '', block: USE })
      return opened.value
    },
  }
}
