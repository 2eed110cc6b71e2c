import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLocalServer } from '../local-server.ts'
import { type RunningProcess, startProcess } from './harness.ts'

const walk = fileURLToPath(new URL('../../examples/tasks-walk.sh', import.meta.url))

let directory: string
let quoin: RunningProcess

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-test-'))
  quoin = await startProcess(directory)
})

afterAll(async () => {
  await quoin.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

/** Runs a program and gives its exit code and everything it wrote. */
function run(program: string, words: readonly string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(program, words, { env: { PATH: process.env.PATH } }, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, output: stdout + stderr }),
    )
  })
}

const shownPassword = (output: string) => /Sign in {2}admin \/ (\S+) /.exec(output)?.[1]

function withCurl(): void {
  test('the printed curl line works when it is pasted', async () => {
    const line = /^ {4}(curl \S+)$/m.exec(quoin.output())?.[1] ?? ''
    expect(line).toBe(`curl ${quoin.address}/api/v1/tasks`)
    const { code, output } = await run('sh', ['-c', line.replace('curl', 'curl --silent --fail')])
    expect([code, output]).toEqual([0, '[]'])
  })

  test('the walk needs the password, and a right one', async () => {
    const without = await run('bash', [walk, quoin.address])
    expect(without).toMatchObject({ code: 2, output: expect.stringContaining('QUOIN_ADMIN_PASSWORD') })
    const wrong = await run('bash', [walk, quoin.address, 'not "the" password'])
    expect(wrong).toMatchObject({ code: 1, output: expect.stringContaining('INVALID_CREDENTIALS') })
  })

  test('the walk reports a server that does not answer', async () => {
    const { code, output } = await run('bash', [walk, 'http://127.0.0.1:1', 'some password'])
    expect(code).toBe(1)
    expect(output).toContain('Is Quoin running?')
  })

  test('the walk builds the tasks API from nothing and finds every promise kept, also the second time', async () => {
    const checks = (await readFile(walk, 'utf8')).match(/^check(_body)? /gm)?.length
    expect(checks).toBe(46)
    for (let time = 0; time < 2; time++) {
      const { code, output } = await run('bash', [walk, quoin.address, shownPassword(quoin.output()) ?? ''])
      expect(output).not.toContain('FAILED')
      expect(output.match(/^ok /gm)).toHaveLength(46)
      expect(output).toContain('46 checks, 0 failed')
      expect(code).toBe(0)
    }
  })

  test('the walk finds a promise that is not kept', async () => {
    const sameForAll = JSON.stringify({ _meta: { guid: 'x' }, access_token: 'y' })
    const server = await startLocalServer((_request, response) => response.end(sameForAll))
    try {
      const { code, output } = await run('bash', [walk, server.url, 'some password'])
      expect(output).toContain('FAILED   create without a title is refused: expected 400, got 200')
      expect(output).toContain('FAILED   an inactive blueprint does not answer: expected 404, got 200')
      expect(code).toBe(1)
    } finally {
      await server.close()
    }
  })
}

// A bare machine may have none, and nothing but the printed line and the walk needs it.
if (spawnSync('curl', ['--version']).status === 0) describe('with curl', withCurl)
else test.skip('the printed curl line and the walk (curl is not installed)', () => undefined)

/** Writes the names of modules that are loaded, by the sources or by a bundle of them. */
const noting = (file: string) => `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
const load = (url, context, next) => {
  appendFileSync(${JSON.stringify(file)}, url + '\\n')
  return next(url, context)
}
registerHooks({ load })`

test('SIGTERM ends it well, the password is shown only at the first start, and nothing of agents, code and telemetry is loaded', async () => {
  const password = shownPassword(quoin.output())
  expect(password).toMatch(/^[a-z0-9-]{20,}$/)
  expect(await quoin.end('SIGTERM')).toBe(0)
  const [hook, loaded] = [join(directory, 'noting.mjs'), join(directory, 'loaded.txt')]
  await writeFile(hook, noting(loaded))
  const second = await startProcess(directory, {
    QUOIN_EXAMPLES: '1',
    NODE_OPTIONS: `--import ${pathToFileURL(hook).href}`,
  })
  const found = async (what: RegExp) =>
    (await readFile(loaded, 'utf8')).split('\n').some((url) => what.test(url))
  const later = /modelcontextprotocol|mcp-server|quickjs|code-threads|open-telemetry/
  try {
    expect([await found(/\/main\./), await found(later)]).toEqual([true, false])
    // That is what its file is called, in the sources and in a bundle.
    const main = (await readFile(loaded, 'utf8')).split('\n').find((url) => /\/main\./.test(url)) ?? ''
    const files = await readdir(new URL('.', main), { recursive: true })
    expect(files.filter((file) => /open-telemetry[^/]*\.m?[jt]s$/.test(file))).not.toEqual([])
    expect(second.output()).not.toContain('Sign in')
    expect(second.output()).not.toContain(String(password))
    const tasks = await fetch(`${second.address}/api/v1/tasks`)
    expect(tasks.status).toBe(200)
    const signIn = await fetch(`${second.address}/api/v1/auth/signin`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password }),
    })
    expect(signIn.status).toBe(200)
    const { access_token: token } = Object(await signIn.json())
    const made = await fetch(`${second.address}/api/v1/users/me/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: 'agent', scopes: ['*'] }),
    })
    expect(await found(later)).toBe(false)
    const listed = await fetch(`${second.address}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        authorization: `Bearer ${Object(await made.json()).key}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    expect([listed.status, await found(/modelcontextprotocol|mcp-server/)]).toEqual([200, true])
    expect(await found(/quickjs|code-threads|open-telemetry/)).toBe(false)
    expect(await second.end('SIGINT')).toBe(0)
  } finally {
    await second.end('SIGKILL')
  }
})
