/** A server with a large blueprint and two people, and their browsers in front of it. */
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { importBlueprint } from '../src/flows/blueprints/blueprint-file.ts'
import { guidSource } from '../src/shared/guid.ts'
import { isJsonObject, type JsonObject } from '../src/shared/json.ts'
import { openBrowser } from '../test/browser/open-browser.ts'
import { largeBlueprint } from './alone/many-blocks.ts'
import { type Candidate, startQuoin } from './candidates.ts'
import { takeAllCores } from './cores.ts'
import { guidIn, signIn } from './management-api.ts'

export const BLOCKS = 500
export const VIEWPORT = { width: 1600, height: 1000 }
/** Copies of the example in a row, and how far they stand apart, in pixels. */
const IN_A_ROW = 5
const APART = { x: 2_000, y: 1_500 }

export interface StudioFixture {
  readonly browser: Browser
  readonly blueprint: string
  /** A block in the middle of the drawing. */
  readonly block: string
  /** A traced run of a part of the blueprint. */
  readonly run: string
  /** A tab of a browser of its own, with the blueprint open. Closing its context closes it. */
  open(person: 'admin' | 'second', words?: string): Promise<Page>
  close(): Promise<void>
}

export async function openStudioFixture(): Promise<StudioFixture> {
  // The browser would wait for the bench.
  takeAllCores()

  const server = await startQuoin({ core: undefined })
  try {
    const { blueprint, block } = await install(server)
    const tokens = { admin: server.token, second: await addPerson(server) }
    const browser = await openBrowser()
    return {
      browser,
      blueprint,
      block,
      run: await traceOne(server),
      async open(person, words = '') {
        const context = await browser.newContext({ baseURL: server.base, viewport: VIEWPORT })
        const token = JSON.stringify(tokens[person])
        await context.addInitScript(`sessionStorage.setItem('quoin.token', ${token})`)
        const page = await context.newPage()
        await page.goto(`/studio/blueprints/${blueprint}${words}`)
        await page.locator('.react-flow__node-block').first().waitFor({ timeout: 60_000 })
        return page
      },
      async close() {
        await browser.close()
        await server.close()
      },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}

/** The large blueprint in a realistic layout: copies of the example beside and below each other. */
async function spreadBlueprint(): Promise<JsonObject> {
  const tasks: unknown = JSON.parse(
    await readFile(new URL('../examples/tasks/blueprints/tasks.json', import.meta.url), 'utf8'),
  )
  const places = isJsonObject(tasks) && isJsonObject(tasks.layout) ? tasks.layout : {}
  const blueprint = await largeBlueprint(BLOCKS)
  const blocks = isJsonObject(blueprint.blocks) ? Object.keys(blueprint.blocks) : []
  const layout = Object.fromEntries(
    blocks.map((id, index) => {
      const [, name = '', number = ''] = /^(.+)_(\d+)$/.exec(id) ?? []
      const place = places[name]
      const [x, y] = Array.isArray(place) ? place : []
      const copy = Number(number)
      if (typeof x !== 'number' || typeof y !== 'number') return [id, [(index % 40) * 260, -300]]
      return [id, [x + (copy % IN_A_ROW) * APART.x, y + Math.floor(copy / IN_A_ROW) * APART.y]]
    }),
  )
  return { ...blueprint, layout }
}

/** As the studio itself imports a file: all blocks with one request. */
async function install(server: Candidate): Promise<{ blueprint: string; block: string }> {
  const file = await spreadBlueprint()
  const newGuid = guidSource(Date.now, (bytes) => void crypto.getRandomValues(bytes))
  const { name, blocks } = importBlueprint(file, newGuid)
  const blueprint = guidIn(await call(server, 'POST', 'blueprints', { name }))
  const edits = blocks.map(({ guid, ...content }) => ({ guid, update_hash: null, content }))
  await call(server, 'POST', `blueprints/${blueprint}/edits`, { edits })
  await call(server, 'POST', `blueprintactions/unsaved/${blueprint}`, {})
  await call(server, 'PUT', `blueprints/update/set/active/${blueprint}`, {})
  const names = Object.keys(isJsonObject(file.blocks) ? file.blocks : {})
  return { blueprint, block: blocks[names.indexOf('list_6')]?.guid ?? '' }
}

async function addPerson(server: Candidate): Promise<string> {
  const password = 'a password for the bench'
  await call(server, 'POST', 'users', { username: 'second', password, custom_scopes: ['*'] })
  return (await signIn(server.base, 'second', password)).token
}

async function call(
  { base, token }: Candidate,
  method: 'POST' | 'PUT',
  path: string,
  body: JsonObject,
): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const reply = await fetch(`${base}/api/v1/${path}`, { method, headers, body: JSON.stringify(body) })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return reply.json()
}

/** Guid of a run. */
async function traceOne({ base, token }: Candidate): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'x-quoin-trace': '1' }
  const reply = await fetch(`${base}/api/v1/bench/copy-7/tasks`, { headers })
  const run = reply.headers.get('x-quoin-run')
  if (run === null) throw new Error(`No run was traced: ${reply.status} ${await reply.text()}`)
  return run
}
