/** The figures of memory in the benchmark report: how they are read, sent and written. */
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileForm, lines, MIB, post } from '../bench/large-bodies.ts'
import type { MemoryRow } from '../bench/memory.ts'
import { forgetPeak, memoryOf } from '../bench/process-memory.ts'
import { memoryLines, memorySection, withSection } from '../bench/report-memory.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'

let server: LocalServer
/** What the server was sent. */
let received = { length: '' as string | undefined, bytes: Buffer.alloc(0) }

beforeAll(async () => {
  server = await startLocalServer(async (request, response) => {
    if (request.url === '/refuses') {
      response.writeHead(413, { connection: 'close' }).end('too big')
      return
    }
    received = { length: request.headers['content-length'], bytes: await buffer(request) }
    response.end('taken')
  })
})
afterAll(() => server.close())

test('a server that refuses before all is sent is heard', async () => {
  const answered = await post(`${server.url}/refuses`, 'token', fileForm(50 * MIB, false))
  expect(answered).toMatchObject({ status: 413, text: 'too big' })
})

test.each([
  { what: 'a form that says its length', body: fileForm(2 * MIB + 5, true), said: true, size: 2 * MIB + 5 },
  { what: 'a form that does not', body: fileForm(1, false), said: false, size: 1 },
])('$what arrives whole', async ({ body, said, size }) => {
  expect(await post(server.url, 'token', body)).toMatchObject({ status: 200, text: 'taken' })
  const { bytes, length } = received
  expect(length).toBe(said ? String(bytes.length) : undefined)
  const text = bytes.toString('latin1')
  const content = text.slice(text.indexOf('\r\n\r\n') + 4, text.lastIndexOf('\r\n--'))
  expect(content).toHaveLength(size)
  expect(text.endsWith('--\r\n')).toBe(true)
})

test('lines arrive in order', async () => {
  await post(
    server.url,
    'token',
    lines(20_000, (number) => `{"n":${number}}`),
  )
  const sent = received.bytes.toString().trimEnd().split('\n')
  expect(sent).toEqual(Array.from({ length: 20_000 }, (_, number) => `{"n":${number}}`))
})

const peak = 'the peak of a process can be forgotten, and grows again'
if (process.platform !== 'linux') test.skip(`${peak} (only Linux tells it)`, () => undefined)
else
  test(peak, () => {
    forgetPeak(process.pid)
    const before = memoryOf(process.pid)?.peak ?? Number.NaN
    const held: Buffer[] = []
    const grown = () => (memoryOf(process.pid)?.peak ?? 0) - before
    // Allocating may first free what other tests left behind, so that the process does not grow yet.
    while (held.length < 8 && grown() < 58 * MIB) held.push(Buffer.alloc(64 * MIB, 1))
    expect(grown()).toBeGreaterThan(58 * MIB)
    const after = memoryOf(process.pid)
    expect(after?.resident).toBeLessThanOrEqual(after?.peak ?? 0)
    expect(memoryOf(0x7fffffff)).toBeUndefined()
  })

const row: MemoryRow = {
  title: 'upload',
  goal: 64,
  status: 200,
  extra: 63.4,
  seconds: 4,
  amount: 500,
  unit: 'MB',
}

test('a row is met, missed, unknown or refused, and never less than nothing', () => {
  const said = memoryLines([
    row,
    { ...row, extra: 64.6 },
    { ...row, extra: Number.NaN },
    { ...row, extra: -3, goal: undefined, amount: 0, status: 413 },
  ])
  expect(said.split('\n')).toEqual([
    'upload: 200, +63 MB memory (≤ 64 MB met), 125 MB/s',
    'upload: 200, +65 MB memory (≤ 64 MB missed), 125 MB/s',
    'upload: 200, unknown memory (≤ 64 MB), 125 MB/s',
    'upload: 413, +0 MB memory, refused',
  ])
})

test('the section is put into the report and leaves the rest as it is', () => {
  const about = { date: '2026-01-01', commit: 'abc' }
  const section = memorySection([row], about)
  const report = '# Benchmarks\n\n| old |\n\n## The machine\n\nOne.\n'
  const once = withSection(report, section)
  expect(once).toBe(`${report}\n${section}`)
  expect(withSection(once, section)).toBe(once)
  const between = `${report}\n${section}\n## Last\n\nKept.\n`
  const other = memorySection([{ ...row, extra: 12 }], about)
  const replaced = withSection(between, other)
  expect(replaced).toBe(between.replace('+63 MB', '+12 MB'))
})
