/** Real processes, kept running as `npm start` does: what ends one whose event loop is stuck or that fails where nothing handles it, and what does not. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noteText } from '../../src/flows/watchdog/stuck-flows.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { adminPassword } from './harness.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const keep = `import { keepRunning } from './bin/keep-running.mjs'
  keepRunning('src/main.ts', ['start'], 20)`

let directory: string
let keeper: ChildProcess
let output = ''
/** Those that ever were, in order. */
const addresses = () =>
  [...output.matchAll(/^ {4}curl (http:\/\/\S+)\/api\/v1\//gm)].map(([, found]) => found ?? '')

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  keeper = spawn(process.execPath, ['--input-type=module', '-e', keep], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: ['../../bin/compile-cache.mjs', '../stuck-block.ts']
        .map((path) => `--import ${new URL(path, import.meta.url).href}`)
        .join(' '),
      QUOIN_DATA: join(directory, 'data'),
      QUOIN_PORT: '0',
      QUOIN_WATCHDOG: '1',
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be stopped and ended.
    detached: true,
  })
  for (const stream of [keeper.stdout, keeper.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
})

afterAll(async () => {
  if (keeper.exitCode === null) signalAll('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

function signalAll(signal: NodeJS.Signals): void {
  if (keeper.pid !== undefined) process.kill(-keeper.pid, signal)
}

/** The address of the process that started as the `number`th one. */
async function started(number: number): Promise<string> {
  while (addresses().length < number) {
    if (keeper.exitCode !== null) throw new Error(`It has ended:\n${output}`)
    await wait(10)
  }
  return `${addresses()[number - 1]}/api/v1`
}

const json = { 'content-type': 'application/json' }

async function tokenAt(address: string): Promise<string> {
  const body = JSON.stringify({ username: 'admin', password: adminPassword })
  const signedIn = await fetch(`${address}/auth/signin`, { method: 'POST', headers: json, body })
  return String(Object(await signedIn.json()).access_token)
}

async function managed(address: string, method: string, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${await tokenAt(address)}`, ...json }
  const reply = await fetch(address + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return reply.json()
}

const holding = (uri: string) => ({
  on: { type: 'on_startup_register_uri_get', in: { uri }, scopes: ['*public'] },
  text: { type: 'httpconnection_get_params', in: { field: 'text' } },
  hold: { type: 'value_default', in: { value: '@text.value', default: 'nothing' } },
  reply: { type: 'httpconnection_set_json', in: { flow: '@on.flow', value: '@hold.value' } },
})

/** Gives the blueprint's guid. */
async function install(address: string, uri: string): Promise<string> {
  const file = join(directory, `${uri}.json`)
  await writeFile(file, JSON.stringify({ name: uri, blocks: holding(uri) }))
  const words = ['import', file, '--activate', '--url', new URL(address).origin]
  expect(await quoinCommand(words, { QUOIN_TOKEN: await tokenAt(address) })).toMatchObject({ code: 0 })
  const blueprints = await managed(address, 'POST', '/blueprints/search', {})
  const found = Array.isArray(blueprints) && blueprints.find((one) => Object(one).name === uri)
  return String(Object(Object(found)._meta).guid)
}

const get = (address: string, path: string) =>
  fetch(`${address}/${path}`).then(
    async (reply) => [reply.status, await reply.json()],
    () => 'cut off',
  )

// Four starts of the whole program from its sources: 8 s on a machine that does nothing else.
test('a stuck process ends, starts again, and the blueprint that did it the third time is deactivated', {
  timeout: 240_000,
}, async () => {
  const first = await started(1)
  const [bad, slow] = [await install(first, 'bad'), await install(first, 'slow')]

  // Neither a disk that does not answer nor a process that was stopped is a stuck loop.
  expect(await get(first, 'slow?text=wait')).toEqual([200, 'wait'])
  signalAll('SIGSTOP')
  await wait(2_500)
  signalAll('SIGCONT')
  expect(await get(first, 'slow')).toEqual([200, 'nothing'])
  expect(addresses()).toHaveLength(1)

  // Stuck where JavaScript cannot hear it. Once is forgiven.
  expect(await get(first, 'slow?text=native')).toBe('cut off')
  const second = await started(2)
  expect(output).toContain(`blueprint ${slow}: this process ends with code 70`)

  const stuck = join(directory, 'data', 'stuck')
  await mkdir(stuck, { recursive: true })
  for (const hour of [1, 2]) {
    const at = Date.now() - hour * 3_600_000
    const note = { at, seconds: 10, blueprint: bad, block: 'b' }
    await writeFile(join(stuck, `${at}-1.json.told`), noteText(note))
  }
  // The first run of its process is watched too.
  expect(await get(second, 'bad?text=loop')).toBe('cut off')
  const third = await started(3)
  expect(await get(third, 'bad')).toMatchObject([404, {}])
  expect(await get(third, 'slow')).toEqual([200, 'nothing'])
  const log = await managed(third, 'POST', '/_system/systemlogs/search', {
    filters: { level: 'error', blueprint: bad },
    sort: [{ '_meta.created': 'asc' }],
  })
  expect(log).toMatchObject([
    { message: expect.stringContaining('its event loop had not turned for'), block: expect.any(String) },
    {
      message: expect.stringContaining(
        'The blueprint was deactivated: its flows blocked the event loop 3 times',
      ),
    },
  ])
  // Only the note of the other one is left.
  expect(await readdir(stuck)).toHaveLength(1)

  // What nothing handles: a promise that failed ends nothing, an exception ends the process in order.
  const ready = async (address: string) => (await fetch(new URL('/health/ready', address))).json()
  expect(await ready(third)).toEqual({ status: 'ready' })
  expect(await get(third, 'slow?text=reject')).toEqual([200, 'reject'])
  expect(await ready(third)).toEqual({ status: 'ready', warning: 'unhandled_error' })
  expect(output).toContain('The process goes on. Please report it: Error: no caller waits for this')
  expect(await get(third, 'slow?text=throw')).toEqual([200, 'throw'])
  const fourth = await started(4)
  expect(output).toMatch(
    /no caller catches this.*Error received, shutting down.*Quoin has ended \(code 70\)/s,
  )
  expect(await ready(fourth)).toEqual({ status: 'ready' })
  const faults = await managed(fourth, 'POST', '/_system/systemlogs/search', {
    filters: { level: 'error' },
    sort: [{ '_meta.created': 'desc' }],
    limit: 1,
  })
  expect(faults).toMatchObject([{ message: expect.stringContaining('no caller catches this') }])

  keeper.kill('SIGTERM')
  await once(keeper, 'exit')
  expect(keeper.exitCode).toBe(0)
  expect(output).toContain('SIGTERM received, shutting down')
})
