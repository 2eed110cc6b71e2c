/**
 * An application of five blueprints as a team owns it: a folder with tests, pushed to a second cluster of two nodes on PostgreSQL by two
 * commands. A field that many documents have is renamed there while requests go to both nodes, and the release is taken back: no request
 * fails, and no value is lost. A draft is compared with recorded requests before it is released. `docs/applications.md` tells it.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { JsonValue } from '../../src/shared/json.ts'
import {
  adminPassword,
  guidOf,
  objectOf,
  objectsOf,
  openTestQuoin,
  type RunningProcess,
  startProcess,
  type TestQuoin,
} from '../end-to-end/harness.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { quoinCommand } from '../recording-terminal.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { callNode } from './call-node.ts'

/** As the page says. */
const DOCUMENTS = inject('thorough') ? 100_000 : 10_000
/** Of each node, with a pause in milliseconds behind each round: the job that follows them goes on meanwhile. */
const [CLIENTS, PAUSE] = [2, 100]
/** Of each client, also where the change is over sooner. */
const LEAST_ROUNDS = 3
const RECORDED = 200

let development: TestQuoin
let temporary: TemporaryDatabase
let directory: string
/** Where the lines are typed. */
let before: string
let nodes: readonly RunningProcess[] = []
let token: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quoin-promoted-'))
  before = process.cwd()
  development = await openTestQuoin()
  temporary = await openTemporaryDatabase(quoinTemplate)
  const start = (name: string) =>
    startProcess(join(directory, name), {
      QUOIN_NODE: name,
      QUOIN_ADMIN_PASSWORD: adminPassword,
      QUOIN_EXAMPLES: '0',
      QUOIN_RATE_LIMIT: '0',
      DATABASE_URL: temporary.url,
    })
  nodes = [await start('a'), await start('b')]
  const body = { username: 'admin', password: adminPassword }
  const signedIn = await callNode(nodes[0]?.address ?? '', '/auth/signin', { method: 'POST', body })
  token = String(objectOf(signedIn.body).access_token)
  process.chdir(directory)
}, 120_000)
afterAll(async () => {
  process.chdir(before)
  for (const node of nodes) await node.end('SIGKILL')
  await development?.close()
  await temporary?.drop()
  await rm(directory, { recursive: true, force: true })
})

const storage = 'tickets'

/** The shell lines of the page, block by block, for the addresses and the number of documents of this test. */
async function linesOfPage(): Promise<readonly string[]> {
  const page = await readFile(new URL('../../docs/applications.md', import.meta.url), 'utf8')
  const [own = ''] = (page.split('\n## From a folder to production\n')[1] ?? '').split('\n## ')
  const base = await development.quoin.server.listen()
  return [...own.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) =>
    text
      .replaceAll('http://127.0.0.1:8080', base)
      .replaceAll('https://quoin.example.org', nodes[0]?.address ?? '')
      .replaceAll(' 9999 ', ` ${DOCUMENTS - 1} `),
  )
}

const isCommand = (line: string) => line.startsWith('quoin ')

/** Types the lines: commands in this process, others in a shell. Gives what the commands have said, one after the other. */
async function typed(text: string): Promise<readonly string[]> {
  const said: string[] = []
  for (const piece of text.split(/^(?=quoin )|(?<=^quoin .*\n)/m)) {
    if (isCommand(piece)) said.push(await command(piece))
    else await promisify(execFile)('sh', ['-ec', piece])
  }
  return said
}

/** The password, or yes, is what a command may ask for. */
async function command(line: string, expected = 0): Promise<string> {
  const words = line
    .replace(/\s+#.*/, '')
    .trim()
    .split(/\s+/)
    .slice(1)
  const environment = { XDG_CONFIG_HOME: join(directory, 'config') }
  const { code, printed, complained } = await quoinCommand(
    words,
    environment,
    words[0] === 'login' ? adminPassword : 'yes',
  )
  expect([line, code, code === expected ? '' : printed + complained]).toEqual([line, expected, ''])
  return printed
}

const manage = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue) => {
  const reply = await callNode(nodes[0]?.address ?? '', path, {
    method,
    token,
    ...(body !== undefined && { body }),
  })
  expect([path, reply.status]).toEqual([path, 200])
  return reply.body
}

async function ticketsPath(): Promise<string> {
  const [record] = objectsOf(await manage('POST', '/_system/storages/search', { filters: { name: storage } }))
  return `/_system/storages/${guidOf(record)}/documents`
}

interface Load {
  readonly requests: number
  /** Each that was not answered as it must be. */
  readonly failed: readonly string[]
  /** The title that each ticket of the load was last given, and was answered with. */
  readonly titles: ReadonlyMap<string, string>
}

/** What clients of both nodes do, until the work has ended. */
async function whileClientsWork(work: () => Promise<unknown>): Promise<Load> {
  let isOver = false
  let requests = 0
  const failed: string[] = []
  const titles = new Map<string, string>()
  const client = async (address: string, name: string) => {
    const ask = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: JsonValue) => {
      const reply = await callNode(address, path, { method, ...(body !== undefined && { body }) })
      requests += 1
      if (reply.status !== 200)
        failed.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    }
    const expectTitle = (what: string, found: JsonValue | undefined, title: string) => {
      if (JSON.stringify(found) !== JSON.stringify(title))
        failed.push(`${what}: ${JSON.stringify(found)}, not ${title}`)
    }
    for (let round = 0; !isOver || round < LEAST_ROUNDS; round++) {
      const title = `${name} ${round}`
      const opened = objectOf((await ask('POST', '/desk/tickets', { title })) ?? {})
      expectTitle('opened', opened.title, title)
      const path = `/desk/tickets/${String(opened.guid)}`
      expectTitle('read', objectOf((await ask('GET', path)) ?? {}).title, title)
      const [found] = [(await ask('GET', `/desk/find?title=${encodeURIComponent(title)}`)) ?? []].flat()
      expectTitle('found', found, title)
      const closed = objectOf((await ask('PUT', path, { title: `${title} closed` })) ?? {})
      expectTitle('closed', closed.title, `${title} closed`)
      titles.set(String(opened.guid), `${title} closed`)
      const listed = await ask('GET', '/desk/tickets')
      const isWhole =
        Array.isArray(listed) && listed.length === 20 && listed.every((one) => typeof one === 'string')
      if (!isWhole) failed.push(`listed: ${JSON.stringify(listed)}`)
      await wait(PAUSE)
    }
  }
  const clients = nodes.flatMap(({ address }, node) =>
    Array.from({ length: CLIENTS }, (_, at) => client(address, `client ${Date.now()} ${node} ${at}`)),
  )
  await work().finally(() => {
    isOver = true
  })
  await Promise.all(clients)
  return { requests, failed, titles }
}

/** So many requests for one ticket, recorded on the cluster. */
async function recordReads(tickets: readonly string[]): Promise<void> {
  const filters = { name: 'Read a ticket' }
  const [blueprint] = objectsOf(await manage('POST', '/blueprints/search', { filters }))
  const tracing = { on: true, keep_last: RECORDED }
  await manage('PUT', `/blueprints/${guidOf(blueprint ?? {})}/tracing`, tracing)
  const list = `/runs?blueprint=${guidOf(blueprint ?? {})}&limit=${RECORDED}`
  // A node that has too many waiting traces leaves some out.
  for (let recorded = 0; recorded < RECORDED; recorded = objectsOf(await manage('GET', list)).length)
    for (let at = 0; at < RECORDED - recorded; at++)
      await callNode(nodes[at % 2]?.address ?? '', `/desk/tickets/${tickets[at % tickets.length]}`, {})
  await manage('PUT', `/blueprints/${guidOf(blueprint ?? {})}/tracing`, { on: false, keep_last: RECORDED })
}

/** Every ticket has its title under this name: those that were imported, and those of clients as they were last answered. */
async function expectTitles(field: string, clients: readonly Load[]): Promise<void> {
  const expected = new Map(clients.flatMap(({ titles }) => [...titles]))
  const path = await ticketsPath()
  let imported = 0
  let after: string | null = null
  do {
    const reply = await callNode(nodes[1]?.address ?? '', `${path}/search`, {
      ...{ method: 'POST', token },
      body: { limit: 1_000, ...(after !== null && { after }) },
    })
    for (const one of objectsOf(reply.body)) {
      const title = expected.get(guidOf(one))
      if (title === undefined) imported += /^Ticket \d{6}$/.test(String(one[field])) ? 1 : 0
      else if (one[field] !== title) expect([guidOf(one), one[field]]).toEqual([guidOf(one), title])
    }
    after = reply.header('x-next-cursor')
  } while (after !== null)
  expect(imported).toBe(DOCUMENTS)
}

test(
  'a folder is tested, pushed by two commands, changed under load and taken back, without a failed request',
  async () => {
    const [made = '', promoted = '', renamed = '', back = '', compared = '', ...others] = await linesOfPage()
    expect(others).toEqual([])
    // Developed on a cluster of its own, on the other engine where that is SQLite.
    const [checked, tested, , pushed, pulled] = await typed(made)
    expect(checked).toBe('desk can run.')
    expect(tested).toContain('1 tests, 0 failed')
    expect(pushed).toContain('Release 1 of desk is live.')
    expect(pulled?.split('\n')).toHaveLength(9)

    const [, , firstPlan, first] = await typed(promoted)
    expect(firstPlan).toContain('created blueprints/close.json')
    expect(first).toContain('Release 1 of desk is live.')

    const push = renamed.split('\n').find((line) => line.startsWith('quoin push ')) ?? ''
    const [, plan] = await typed(renamed.replace(push, ''))
    expect(plan).toContain(`${DOCUMENTS} documents of tickets get their value of title as subject`)
    expect(plan).not.toContain('breaks: ')
    const renaming = await whileClientsWork(async () => expect(await command(push)).toContain('Release 2'))
    expect(renaming.failed).toEqual([])
    expect(renaming.requests).toBeGreaterThan(50)
    await expectTitles('subject', [renaming])

    const [rollback = '', ...looked] = back.trim().split('\n')
    const takingBack = await whileClientsWork(() => command(rollback))
    expect(takingBack.failed).toEqual([])
    await expectTitles('title', [renaming, takingBack])
    const [listed, drifted] = await typed(looked.join('\n'))
    expect([listed, drifted]).toEqual([expect.stringMatching(/^3\t.*\n2\t.*\n1\t/), ''])

    // A draft that changes a reply, compared with what clients asked for.
    await recordReads([...renaming.titles.keys()])
    const verifying = compared.split('\n').filter(isCommand)
    await typed(
      compared
        .split('\n')
        .filter((line) => !isCommand(line))
        .join('\n'),
    )
    const differences = await command(verifying[0] ?? '', 1)
    const [, key = ''] =
      /^differs (\S+): blueprints\/read.json GET desk\/tickets\/\{guid\}: value at title /m.exec(
        differences,
      ) ?? []
    expect(key).toMatch(/^[0-9a-f]{16}$/)
    expect(await command('quoin releases desk --remote production')).not.toMatch(/^4\t/m)
    expect(await command(verifying[1]?.replace(/--accept \S+/, `--accept ${key}`) ?? '')).toContain(
      `verified blueprints/read.json: ${RECORDED} recorded runs compared, 0 end the same, 1 accepted differences`,
    )
    expect(await command('quoin releases desk --remote production')).toMatch(/^4\t/m)
  },
  inject('thorough') ? 1_200_000 : 590_000,
)
