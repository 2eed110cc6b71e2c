/**
 * `npm run dev`: the server from its sources and the studio with hot replacement, at one address.
 *
 *   npm run dev                  http://127.0.0.1:8080, or the port of QUOIN_PORT
 *   npm run dev -- --inspect     a debugger can attach to the server; also --inspect-brk and --inspect-wait, with a port
 *
 * A saved file of the server starts it again, and requests wait meanwhile. Data is in `data/dev`. Only this machine reaches it.
 */
import '../../bin/compile-cache.mjs'
import { watch } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join, sep } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { OptionError } from '../../src/options/option-kinds.ts'
import { type Options, readOptions } from '../../src/options/options.ts'
import { startServer } from './restarting-server.ts'

const root = join(import.meta.dirname, '..', '..')
const HOST = '127.0.0.1'
/** Only programs of this machine reach the address. */
const PASSWORD = 'quoin-development'
/** A restart waits so long for replies to begin. */
const PASS_MS = 500
/** A request waits so long for a server that starts. */
const WAIT_MS = 15_000

process.chdir(root)
let hasGreeted = false
const flags = process.argv.slice(2)
const unknown = flags.find((flag) => !/^--inspect(-brk|-wait)?(=[\w.:]+)?$/.test(flag))
if (unknown !== undefined)
  fail(`npm run dev knows --inspect, --inspect-brk and --inspect-wait; got ${unknown}`)

const environment = {
  QUOIN_DATA: join('data', 'dev'),
  QUOIN_ADMIN_PASSWORD: PASSWORD,
  // At a breakpoint the event loop stands still, and a loop without an end is ended by the next edit.
  QUOIN_WATCHDOG: '0',
  ...process.env,
  QUOIN_HOST: HOST,
}
const options = settings()
const front = createServer((request, response) => void answer(request, response))
const address = `http://${HOST}:${await listen(options.port)}`
/** Files that were saved since the server started. */
const edited = new Set<string>()
/** Replies to requests that were handed on. */
const awaited = new Set<ServerResponse>()
const server = startServer({
  program: join(import.meta.dirname, 'serve.ts'),
  flags,
  environment: { ...environment, QUOIN_PORT: '0' },
  beforeStop: repliesBegin,
  served,
  ended: (code) =>
    console.error(`\n  The server ended (${code}). It starts again when a file of src is saved.\n`),
})
// It takes half a second to load, while the server starts.
const opening = import('./studio.ts').then(({ openStudio }) => openStudio(front))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stop())
watch(join(root, 'src'), { recursive: true }, (_event, file) => {
  if (file === null || !isOfServer(file)) return
  edited.add(join('src', file))
  server.restart()
})

function served(milliseconds: number): void {
  if (edited.size > 0) console.log(`  ${[...edited].join(', ')}: served after ${Math.round(milliseconds)} ms`)
  edited.clear()
  if (hasGreeted) return
  hasGreeted = true
  const password = process.env.QUOIN_ADMIN_PASSWORD ? 'the password from QUOIN_ADMIN_PASSWORD' : PASSWORD
  const place = options.databaseUrl === '' ? options.data : 'the database of DATABASE_URL'
  console.log(`
  Quoin in development: the server from src, the studio with hot replacement

    Studio   ${address}/studio
    API      ${address}/api/v1
    Docs     ${address}/docs
    Sign in  admin / ${password}
    Data     ${place}
`)
}

/** A server that closes cuts off a connection that it has not accepted yet. */
async function repliesBegin(): Promise<void> {
  const late = performance.now() + PASS_MS
  while ([...awaited].some(({ headersSent }) => !headersSent) && performance.now() < late) await wait(10)
}

/** @param file by its path in `src` */
function isOfServer(file: string): boolean {
  return (
    !file.startsWith(`studio${sep}`) &&
    /\.(ts|json|sql|css|js|svg)$/.test(file) &&
    !/\.(test\.ts|example\.json)$/.test(file)
  )
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const studio = await opening
  if (studio.isFor(request)) return studio.answer(request, response)
  const target = await Promise.race([server.address(), wait(WAIT_MS, undefined, { ref: false })])
  if (target === undefined) return refuse(response)
  awaited.add(response)
  response.once('close', () => awaited.delete(response))
  studio.pass(request, response, target)
}

function refuse(response: ServerResponse): void {
  const message = 'The server does not run. The terminal of npm run dev says why.'
  response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' })
  response.end(JSON.stringify({ error: 'UNAVAILABLE', code: 503, message }))
}

function settings(): Options {
  try {
    return readOptions(environment)
  } catch (error) {
    if (error instanceof OptionError) fail(error.message)
    throw error
  }
}

async function listen(requested: number): Promise<number> {
  await new Promise<void>((resolve) => {
    front.once('error', (error) => fail(`${error.message}. Set QUOIN_PORT to another port.`))
    front.listen(requested, HOST, resolve)
  })
  const bound = front.address()
  return typeof bound === 'object' && bound !== null ? bound.port : requested
}

async function stop(): Promise<never> {
  await server.stop()
  process.exit(0)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
