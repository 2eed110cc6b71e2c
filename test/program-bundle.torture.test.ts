/** The program as `npm start` builds and runs it: in a copy of the house, because the sources are edited there. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findBlocks } from '../src/blocks/load-blocks.ts'
import type { JsonObject, JsonValue } from '../src/shared/json.ts'
import { guidOf, objectOf, objectsOf } from './end-to-end/harness.ts'

const PASSWORD = 'correct horse battery staple'
const house = join(import.meta.dirname, '..')
let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'quoin-test-bundle-'))
  const filter = (path: string) => !path.endsWith('.test.ts')
  for (const name of ['bin', 'examples', 'scripts', 'src', 'package.json', 'package-lock.json'])
    cpSync(join(house, name), join(root, name), { recursive: true, filter })
  // Each package by itself: the folder for what Node compiles is the copy's own.
  mkdirSync(join(root, 'node_modules'))
  for (const name of readdirSync(join(house, 'node_modules')).filter((name) => !name.startsWith('.')))
    symlinkSync(join(house, 'node_modules', name), join(root, 'node_modules', name))
  await build()
})
afterAll(() => rm(root, { recursive: true, force: true }))

async function node(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root, env: {} })
  return stdout
}

const build = () => node('scripts/build-program.mjs')
const help = () => node('bin/quoin.mjs', 'help')
const bundles = () => readdirSync(join(root, 'dist', 'program'))

function replaceIn(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} does not say ${from}.`)
  writeFileSync(path, text.replaceAll(from, to))
}

test('a bundle is run for the sources that it was made of, and for no others', async () => {
  const source = join(root, 'src', 'cli', 'start.ts')
  const [first = ''] = bundles()
  replaceIn(join(root, 'dist', 'program', first, 'main.mjs'), 'Starts a node', 'Bundled: starts a node')
  expect(await help()).toContain('Bundled: starts a node')

  replaceIn(source, 'Starts a node', 'Edited: starts a node')
  expect(await help()).toContain('Edited: starts a node')
  replaceIn(source, 'Edited: starts a node', 'Starts a node')
  expect(await help()).toContain('Bundled: starts a node')

  const added = join(root, 'src', 'added.ts')
  writeFileSync(added, '')
  // One from before the first.
  const older = join(root, 'dist', 'program', '0123456789abcdef')
  mkdirSync(older)
  utimesSync(older, 0, 0)
  expect(await help()).not.toContain('Bundled')
  expect(await build()).toMatch(/^Built the program in /)
  expect(await build()).toBe('')
  // The one before is left to the servers that run it, the one before that is not.
  expect(bundles()).toHaveLength(2)
  expect(bundles()).toContain(first)
  expect(existsSync(older)).toBe(false)
})

test('a bundle answers, and makes an index in a thread', async () => {
  const server = await start({ QUOIN_ADMIN_PASSWORD: PASSWORD })
  try {
    const call = callTo(server.address)
    const signedIn = await call('/auth/signin', { username: 'admin', password: PASSWORD })
    const token = String(objectOf(signedIn).access_token)
    const identifiers = objectsOf(await call('/blocks', undefined, token)).map(({ identifier }) => identifier)
    expect(identifiers.sort()).toEqual(
      (await findBlocks()).map(({ definition }) => definition.identifier).sort(),
    )

    // From 10,000 documents on an index is made in a thread.
    const lines = Array.from({ length: 10_000 }, (_, number) =>
      JSON.stringify({ title: `Task ${number}`, number }),
    )
    const found = await call('/_system/storages/search', { filters: { name: 'tasks' } }, token)
    await call(`/_system/storages/${guidOf(objectsOf(found)[0])}/documents/import`, lines.join('\n'), token)
    const file = join(root, 'by-number.json')
    await writeFile(file, JSON.stringify(byNumber))
    await promisify(execFile)(
      process.execPath,
      ['bin/quoin.mjs', 'import', file, '--activate', '--url', server.address],
      { cwd: root, env: { QUOIN_TOKEN: token } },
    )
    expect(await call('/by-number')).toMatchObject([{ title: 'Task 9999' }])
  } finally {
    await server.end()
  }
})

const byNumber = {
  name: 'By number',
  blocks: {
    on: { type: 'on_startup_register_uri_get', in: { uri: 'by-number' }, scopes: ['*public'] },
    tasks: { type: 'storage', fields: { storage: 'tasks' } },
    order: { type: 'query_sort_field', in: { field: 'number', order: 'desc' } },
    search: {
      type: 'function_search',
      in: { flow: '@on.flow', storage: '@tasks.storage', sort: '@order.sort', limit: 1 },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@search.flow', value: '@search.documents' } },
  },
}

interface Server {
  readonly address: string
  end(): Promise<void>
}

async function start(settings: Readonly<Record<string, string>>): Promise<Server> {
  const env = { QUOIN_DATA: join(root, 'data'), QUOIN_PORT: '0', QUOIN_LOG_LEVEL: 'warn', ...settings }
  const child = spawn(process.execPath, ['bin/quoin.mjs', 'start'], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface({ input: child.stderr })) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address === undefined) continue
    child.stderr.resume()
    return {
      address,
      async end() {
        child.kill('SIGKILL')
        await ended
      },
    }
  }
  throw new Error('It ended before it listened.')
}

/** Sends JSON, or lines of it, and gives what was answered; throws unless that is a success. */
function callTo(address: string) {
  return async (path: string, body?: JsonObject | string, token?: string): Promise<JsonValue> => {
    const reply = await fetch(`${address}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        connection: 'close',
        ...(body !== undefined && {
          'content-type': typeof body === 'string' ? 'application/x-ndjson' : 'application/json',
        }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`)
    return reply.json()
  }
}
