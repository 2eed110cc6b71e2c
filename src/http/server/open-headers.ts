import type { RunRequest } from '../../blocks/run-request.ts'
import { isApiKey } from './find-token.ts'

type Headers = RunRequest['headers']

/** The headers without those that can open a door. A header `x-api-key` that is no key of ours belongs to the flow. */
export function openHeaders(headers: Headers): Headers {
  const { authorization: _1, cookie: _2, 'x-authtoken': _3, 'x-token': _4, ...open } = headers
  const { 'x-api-key': key, ...others } = open
  return key !== undefined && isApiKey(String(key)) ? others : open
}
