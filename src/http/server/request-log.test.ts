/** What the user log and the log of the process have of a finished request: no query, which may hold a token or search words. */
import { describe, expect, it, test } from 'vitest'
import type { LoggedRequest } from '../../access/access-context.ts'
import type { FinishedRequest } from './finished-hook.ts'
import { hideSecrets, logFinished, logOptions, logRequests } from './hooks.ts'

const user = { guid: 'g', username: 'ann', tokenGuid: 't', scopes: new Set<string>(), user: {} }
const finished: FinishedRequest = {
  ...{
    id: 'r1',
    method: 'PUT',
    url: '/api/v1/goods?access_token=secret',
    endpoint: undefined,
    route: undefined,
  },
  ...{
    status: 409,
    milliseconds: 12.5,
    ip: '192.0.2.1',
    agent: 'curl',
    identity: undefined,
    fromStudio: true,
  },
}

test('the user log has each request of a signed-in user, and none of an anonymous caller', () => {
  const logged: LoggedRequest[] = []
  const listen = logRequests({ logRequest: (request) => logged.push(request) })
  listen(finished)
  expect(logged).toEqual([])
  listen({ ...finished, identity: user })
  expect(logged).toEqual([
    {
      ...{ user, ip: '192.0.2.1', agent: 'curl', method: 'PUT', path: '/api/v1/goods' },
      ...{ status: 409, milliseconds: 12.5, fromStudio: true },
    },
  ])
})

test('the log of the process has a line for each', () => {
  const lines: unknown[] = []
  const debug = (...said: readonly unknown[]) => void lines.push(said)
  logFinished({ debug })(finished)
  const line = { reqId: 'r1', method: 'PUT', path: '/api/v1/goods', address: '192.0.2.1' }
  expect(lines).toEqual([[{ ...line, status: 409, milliseconds: 12.5 }, 'request finished']])
})

test('a silent log is none, unless its level can change while the server runs', () => {
  expect(logOptions({ logLevel: 'silent' }, undefined)).toEqual({ logger: false })
  expect(logOptions({ logLevel: 'info' }, undefined)).toMatchObject({ logger: { level: 'info' } })
  const watched = logOptions({ logLevel: 'silent', watch: () => () => undefined }, undefined)
  expect(watched).toMatchObject({ logger: { level: 'silent' } })
})

describe('what is logged', () => {
  it('has no secret in it, at any level that is written', () => {
    const headers = { Authorization: 'Bearer s', cookie: 's', accept: '*/*' }
    const logged = hideSecrets({
      headers,
      body: { user: { password: 's', name: 'a' } },
      list: [{ token: 's' }, 'b'],
      access_token: 's',
      deep: { a: { b: { c: { d: { e: 's' } } } } },
    })
    expect(JSON.stringify(logged)).not.toContain('"s"')
    expect(JSON.stringify(logged)).not.toContain('Bearer')
    expect(logged).toMatchObject({
      headers: { accept: '*/*' },
      body: { user: { password: '[secret]', name: 'a' } },
      list: [{ token: '[secret]' }, 'b'],
    })
    expect(headers.cookie).toBe('s')
  })

  it('leaves errors and other instances to their serializers', () => {
    const err = new Error('a')
    expect(hideSecrets({ err }).err).toBe(err)
  })
})
