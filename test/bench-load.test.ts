import type { RequestListener, ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { runLoad } from '../bench/load.ts'
import { type Ask, ask, runCooperatively } from '../bench/requests.ts'
import { startLocalServer } from './local-server.ts'

function answer(reply: ServerResponse, status: number): void {
  reply.statusCode = status
  reply.end('{}')
}

/** Sends so many of the requests in turns, over two connections. */
async function load(listener: RequestListener, asks: readonly Ask[], count: number) {
  const server = await startLocalServer(listener)
  try {
    const turn = runCooperatively(asks)
    let left = count
    const next = () => (left-- > 0 ? turn() : undefined)
    return await runLoad({ port: server.port, connections: 2, next })
  } finally {
    await server.close()
  }
}

const wrong: readonly [string, RequestListener, RegExp][] = [
  [
    'another status',
    (_request, reply) => answer(reply, 500),
    /GET \/api\/v1\/a was answered with 500 and not 200/,
  ],
  ['a connection that is cut', (request) => request.socket.destroy(), /connection|broke/],
  ['a reply that cannot be measured', (_request, reply) => reply.write('a'), /no content-length/],
]

test.each(wrong)('%s is an error', async (_name, listener, message) => {
  const result = await load(listener, [ask({ path: 'a' })], 6)
  expect(result.errors).toBeGreaterThan(0)
  expect(result.firstError).toMatch(message)
  expect(result.replies).toBe(0)
})

test('every request is sent once, as it was built, and what only goes along is not counted', async () => {
  const seen: string[] = []
  const listener: RequestListener = (request, reply) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'} ${body}`.trim())
      answer(reply, request.method === 'POST' ? 201 : 200)
    })
  }
  const asks = [
    ask({ path: 'tasks?status=open' }),
    ask({ method: 'POST', path: 'tasks', token: 't', body: '{"title":"ä"}', expected: 201, counted: false }),
  ]
  const result = await load(listener, asks, 10)
  expect(result).toMatchObject({ errors: 0, firstError: undefined, replies: 5 })
  expect(result.latencies.total).toBe(5)
  expect(seen.toSorted()).toEqual([
    ...Array<string>(5).fill('GET /api/v1/tasks?status=open -'),
    ...Array<string>(5).fill('POST /api/v1/tasks Bearer t {"title":"ä"}'),
  ])
})

test('a load without an end goes on while replies come, for more than ten minutes too', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const server = await startLocalServer((_request, reply) => {
    // A reply in each 50 s.
    vi.advanceTimersByTime(50_000)
    answer(reply, 200)
  })
  try {
    let left = 14
    const next = () => (left-- > 0 ? ask({ path: 'a' }) : undefined)
    const result = await runLoad({ port: server.port, connections: 1, next })
    expect(result).toMatchObject({ errors: 0, replies: 14 })
  } finally {
    vi.useRealTimers()
    await server.close()
  }
})

test('a load without an end fails when no reply comes any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const server = await startLocalServer(() => void vi.advanceTimersByTime(130_000))
  try {
    const result = await runLoad({ port: server.port, connections: 1, next: () => ask({ path: 'a' }) })
    expect(result).toMatchObject({ errors: 1, replies: 0 })
    expect(result.firstError).toContain('no reply within 60 seconds')
  } finally {
    vi.useRealTimers()
    await server.close()
  }
})
