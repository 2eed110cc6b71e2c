/** `npm run dev`: one address, edits that are served, and an end that leaves nothing. Times are in bench/alone/dev-loop.ts. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type RestartingServer, startServer } from '../scripts/dev/restarting-server.ts'
import { studioHeaders } from '../src/http/routes/site/studio-files.ts'
import { openBrowser } from './browser/open-browser.ts'
import { type DevelopmentProcess, startDevelopment } from './development-process.ts'
import { startLocalServer } from './local-server.ts'

const root = join(import.meta.dirname, '..')

describe('npm run dev', () => {
  let data: string
  let development: DevelopmentProcess
  let token: string
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    development = await startDevelopment(root, data)
  })
  afterAll(async () => {
    await development?.interrupt()
    await rm(data, { recursive: true })
  })

  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(development.address + path, { headers })

  /** An edit that leaves the file as it is: the checkout is the one that the tests run in. */
  const save = (file: string) => utimes(join(root, file), new Date(), new Date())

  test('the studio comes from its sources, with the policy of the server', async () => {
    const page = await get('/studio/data/any', { accept: 'text/html' })
    expect(await page.text()).toContain('src="/studio/main.ts"')
    const served = studioHeaders('studio-nonce')['content-security-policy'].split('; ')
    const sent = page.headers.get('content-security-policy')?.split('; ') ?? []
    expect(served.filter((directive) => !sent.includes(directive))).toEqual([
      "script-src 'self'",
      "connect-src 'self'",
    ])
    expect(await (await get('/studio/texts/sign-in.ts')).text()).toContain('Sign in to Quoin')
  })

  test('the studio opens in a browser, where the files run as they are written', {
    timeout: 120_000,
  }, async () => {
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      const failed = new Promise<never>((_, reject) => page.on('pageerror', reject))
      await page.goto(`${development.address}/studio`)
      await Promise.race([page.getByLabel('User name or e-mail').waitFor(), failed])
    } finally {
      await browser.close()
    }
  })

  test('a saved file of the studio replaces the components that use it', { timeout: 40_000 }, async () => {
    const socket = new WebSocket(`${development.address.replace('http', 'ws')}/studio/`, 'vite-hmr')
    const news = Promise.withResolvers<string>()
    socket.onerror = () => news.reject(new Error('There is no socket.'))
    socket.onmessage = ({ data }) => {
      if (String(data).includes('"/screens/start/welcome-screen.tsx"')) news.resolve(String(data))
    }
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    for (const file of ['screens/start/welcome-screen.tsx', 'texts/start.ts']) await get(`/studio/${file}`)
    await save('src/studio/texts/start.ts')
    expect(JSON.parse(await news.promise).type).toBe('update')
    socket.close()
  })

  test('the API is at the same address, and the administrator signs in', async () => {
    const body = JSON.stringify({ username: 'admin', password: 'quoin-development' })
    const headers = { 'content-type': 'application/json' }
    const signedIn = await fetch(`${development.address}/api/v1/auth/signin`, {
      method: 'POST',
      headers,
      body,
    })
    token = (await signedIn.json()).access_token
    expect((await get('/docs')).headers.get('content-type')).toContain('text/html')
  })

  test('a saved file of the server restarts it, no request fails meanwhile, and the sign-in stays', async () => {
    const statuses: number[] = []
    const started = async () => {
      statuses.push((await get('/api/v1/users/me', { authorization: `Bearer ${token}` })).status)
      const info = await get('/api/v1/info')
      statuses.push(info.status)
      return (await info.json()).started
    }
    const before = await started()
    await save('src/http/server/authenticate.ts')
    await expect.poll(started, { timeout: 60_000, interval: 20 }).toBeGreaterThan(before)
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Of the studio nothing restarted it.
    const restarts = [...development.printed().matchAll(/(\S+): served after \d+ ms/g)].map(
      ([, file]) => file,
    )
    expect(restarts).toEqual(['src/http/server/authenticate.ts'])
  })

  test('Ctrl-C ends all of it', async () => {
    // npm, dev.ts and the server, and a shell perhaps.
    expect(await development.interrupt()).toBeGreaterThan(2)
  })
})

const refusedStarts: readonly [string, (taken: number) => Record<string, string>, string[], RegExp][] = [
  [
    'a port that is taken',
    (port) => ({ QUOIN_PORT: String(port) }),
    [],
    /^listen EADDRINUSE.*Set QUOIN_PORT/,
  ],
  ['a setting that is none', () => ({ QUOIN_PRT: '1' }), [], /^QUOIN_PRT is not a setting/],
  ['a flag that is none', () => ({}), ['--port'], /^npm run dev knows --inspect/],
]
test.each(refusedStarts)('%s is one line, without a stack', async (_, environment, flags, line) => {
  const taken = await startLocalServer(() => undefined)
  try {
    const env = environment(taken.port)
    const started = promisify(execFile)(process.execPath, ['scripts/dev/dev.ts', ...flags], {
      cwd: root,
      env,
    })
    await expect(started).rejects.toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(line) })
    await expect(started).rejects.toMatchObject({ stderr: expect.stringMatching(/^.*\n$/) })
  } finally {
    await taken.close()
  }
})

describe('the server that an edit replaces', () => {
  let folder: string
  let server: RestartingServer
  const ends: (number | NodeJS.Signals)[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quoin-test-'))
    ends.length = 0
  })
  afterEach(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })

  const program = () => join(folder, 'program.mjs')
  const serving = (port: number) =>
    `process.send('http://127.0.0.1:${port}'); process.once('disconnect', process.exit)`

  async function start(text: string): Promise<void> {
    await writeFile(program(), text)
    const ended = (code: number | NodeJS.Signals) => void ends.push(code)
    const beforeStop = async () => undefined
    const served = () => undefined
    server = startServer({ program: program(), flags: [], environment: {}, beforeStop, served, ended })
  }

  test('has its next address after an edit', async () => {
    await start(serving(1))
    expect(await server.address()).toBe('http://127.0.0.1:1')
    await writeFile(program(), serving(2))
    server.restart()
    expect(await server.address()).toBe('http://127.0.0.1:2')
    expect(ends).toEqual([])
  })

  test('has none when it ended by itself, and starts again by the next edit', async () => {
    await start('process.exit(3)')
    expect(await server.address()).toBeUndefined()
    expect(ends).toEqual([3])
    await writeFile(program(), serving(2))
    server.restart()
    expect(await server.address()).toBe('http://127.0.0.1:2')
  })

  test('who waits for a start that an edit cuts off waits for the next one', async () => {
    await start('setInterval(() => undefined, 1000)')
    const waited = server.address()
    await writeFile(program(), serving(2))
    server.restart()
    expect(await waited).toBe('http://127.0.0.1:2')
  })

  test('is killed when it does not end', async () => {
    await start(`process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); ${serving(1)}`)
    await server.address()
    await writeFile(program(), serving(2))
    server.restart()
    expect(await server.address()).toBe('http://127.0.0.1:2')
  })
})
