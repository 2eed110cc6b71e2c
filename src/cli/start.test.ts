/** The real process: what a signal does to requests in flight. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { adminPassword, objectOf, type RunningProcess, startProcess } from '../../test/end-to-end/harness.ts'
import { type LocalServer, startLocalServer } from '../../test/local-server.ts'
import { quoinCommand } from '../../test/recording-terminal.ts'

let directory: string
let slow: LocalServer
let running: RunningProcess
/** Lets the slow server answer its request. */
let release: () => void = () => undefined
/** Resolves when it got a request. */
let arrived: Promise<void>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  let arrive: () => void = () => undefined
  const next = () => {
    arrived = new Promise((resolve) => {
      arrive = resolve
    })
  }
  next()
  slow = await startLocalServer((_request, response) => {
    release = () => {
      response.end('done')
      next()
    }
    arrive()
  })
  const blocks = {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'slow' }, scopes: ['*public'] },
    ask: { type: 'http_request', in: { flow: '@on.flow', url: slow.url } },
    reply: { type: 'httpconnection_set_json', in: { flow: '@ask.flow', value: 'finished' } },
  }
  const file = join(directory, 'slow.json')
  await writeFile(file, JSON.stringify({ name: 'Slow', blocks }))
  running = await start()
  const QUOIN_TOKEN = await signIn()
  const words = ['import', file, '--activate', '--url', running.address]
  expect(await quoinCommand(words, { QUOIN_TOKEN })).toMatchObject({ code: 0, complained: '' })
  expect(await running.end('SIGINT')).toBe(0)
})
afterAll(async () => {
  await slow.close()
  await rm(directory, { recursive: true, force: true })
})

beforeEach(async () => {
  running = await start()
})
afterEach(async () => {
  release()
  await running.end('SIGKILL')
})

function start(): Promise<RunningProcess> {
  return startProcess(join(directory, 'data'), {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_ALLOWED_HOSTS: `127.0.0.1:${slow.port}`,
    QUOIN_EXAMPLES: '0',
  })
}

async function signIn(): Promise<string> {
  const reply = await fetch(`${running.address}/api/v1/auth/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password: adminPassword }),
  })
  return String(objectOf(JSON.parse(await reply.text())).access_token)
}

const ask = (path: string) => fetch(`${running.address}/api/v1/${path}`)
const turn = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Until the process has heard the signal; the limit of the test bounds it. */
async function heard(): Promise<void> {
  while (!running.output().includes('shutting down')) await turn()
}

test('a request in flight is answered after SIGTERM, and new connections are refused', async () => {
  const inFlight = ask('slow')
  await arrived
  const ended = running.end('SIGTERM')
  await heard()
  const isRefused = () =>
    ask('info').then(
      () => false,
      () => true,
    )
  while (!(await isRefused())) await turn()
  release()
  const reply = await inFlight
  expect({ status: reply.status, body: await reply.json() }).toEqual({ status: 200, body: 'finished' })
  expect(await ended).toBe(0)
})

test('the standard output holds log lines only, each of them JSON', async () => {
  const logging = await startProcess(join(directory, 'logging'), {
    QUOIN_ADMIN_PASSWORD: adminPassword,
    QUOIN_LOG_LEVEL: 'debug',
  })
  await fetch(`${logging.address}/api/v1/info`)
  expect(await logging.end('SIGTERM')).toBe(0)
  expect(logging.output()).toMatch(/Quoin \S+ is ready.*SIGTERM received/s)
  const lines = logging.standardOutput().trim().split('\n')
  expect(lines.map((line) => objectOf(JSON.parse(line)).msg)).toContain('request finished')
})

test('a second signal ends it at once', async () => {
  const inFlight = ask('slow').then(
    () => 'answered',
    () => 'cut off',
  )
  await arrived
  void running.end('SIGTERM')
  await heard()
  // The other one: the same signal so soon is taken for the first.
  expect(await running.end('SIGINT')).toBe(130)
  expect(await inFlight).toBe('cut off')
})
