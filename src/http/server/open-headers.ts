import type { RunRequest } from '../../blocks/run-request.ts'
import { withoutParameter } from '../endpoints/endpoint-address.ts'
import { isApiKey } from './find-token.ts'

/** Headers whose value is an address, by the client and by proxies. */
export const ADDRESSES = ['referer', 'x-forwarded-uri', 'x-original-uri', 'x-original-url', 'x-rewrite-url']

type Headers = RunRequest['headers']

/** The headers without those that can open a door. A header `x-api-key` that is no key of ours belongs to the flow. */
export function openHeaders(headers: Headers): Headers {
  const { authorization: _1, cookie: _2, 'x-authtoken': _3, 'x-token': _4, ...open } = headers
  const { 'x-api-key': key, ...others } = open
  return withoutTokenInAddresses(key !== undefined && isApiKey(String(key)) ? others : open)
}

/** The headers, their addresses without a parameter `access_token`. */
export function withoutTokenInAddresses(headers: Headers): Headers {
  let kept = headers
  for (const name of ADDRESSES) {
    const address = headers[name]
    if (typeof address === 'string' && address.includes('?'))
      kept = { ...kept, [name]: withoutParameter(address, 'access_token') }
  }
  return kept
}
