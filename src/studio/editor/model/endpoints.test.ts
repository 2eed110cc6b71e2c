import { expect, test } from 'vitest'
import { emptyContent } from '../../../shared/empty-content.ts'
import { signatureCheckOf } from './endpoints.ts'
import type { Flow } from './flow.ts'

const block = (type: string, from?: string, pin = 'flow') => ({
  ...emptyContent,
  type,
  in_pins: from === undefined ? [] : [{ id: pin, from: [{ block: from, pin: 'flow' }] }],
})

const flow: Flow = new Map([
  ['post', block('on_startup_register_uri_post')],
  ['log', block('function_console_log', 'post')],
  ['check', block('check_signature', 'log')],
  ['again', block('function_console_log', 'again')],
  ['get', block('on_startup_register_uri_get')],
  ['other', block('check_signature', 'get', 'connection')],
])

test.each([
  ['somewhere behind the endpoint', 'post', 'check'],
  ['not by another wire than that of the flow', 'get', undefined],
  ['not in a circle of wires', 'again', undefined],
])('the check of a signature is found %s', (_where, endpoint, found) => {
  expect(signatureCheckOf(flow, endpoint)).toBe(found)
})
