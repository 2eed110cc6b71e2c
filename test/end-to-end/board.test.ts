/** `examples/board`, on one node and on two, and in a browser. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { shareBrowser } from '../browser/shared-browser.ts'
import { readEvents } from '../event-reader.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { installExample } from './example-fixture.ts'
import { guidOf, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let shared: TemporaryDatabase | undefined
let nodes: readonly TestQuoin[] = []
let addresses: readonly string[] = []

beforeAll(async () => {
  shared = inject('engine') === 'postgres' ? await openTemporaryDatabase(quoinTemplate) : undefined
  const settings = { QUOIN_RATE_LIMIT: '0', ...(shared && { DATABASE_URL: shared.url }) }
  const one = await openTestQuoin(settings)
  nodes = shared ? [one, await openTestQuoin(settings)] : [one]
  addresses = await Promise.all(nodes.map(({ quoin }) => quoin.server.listen()))
  await installExample(one, 'board', {})
})
afterAll(async () => {
  for (const node of nodes) await node.close()
  await shared?.drop()
})

const first = () => {
  const [node] = nodes
  if (!node) throw new Error('There is no node.')
  return node
}

async function added(title: string): Promise<string> {
  const answer = await first().send('POST', '/cards', { as: 'admin', body: { title } })
  expect(answer.status).toBe(201)
  return guidOf(objectOf(answer.body))
}

const move = (guid: string, column: string) =>
  first().send('PUT', `/cards/${guid}/column`, { as: 'admin', body: { column } })

test('moves are for signed-in users, and a move to no column is told to no client', async () => {
  const [address = ''] = addresses
  expect((await readEvents(`${address}/api/v1/board/moves`)).status).toBe(404)
  const token = await first().tokenOf('admin')
  const moves = await readEvents(`${address}/api/v1/board/moves`, { authorization: `Bearer ${token}` })
  expect(moves.status).toBe(200)
  const guid = await added('Paint')
  expect((await move(guid, 'nowhere')).status).toBe(400)
  expect((await move(guid, 'doing')).status).toBe(200)
  expect(await moves.data()).toEqual({ title: 'Paint', column: 'doing', by: 'admin' })
  moves.close()
})

test('the board of each node follows what happens on one', async () => {
  const boards = await Promise.all(addresses.map((address) => readEvents(`${address}/api/v1/board`)))
  for (const board of boards) await board.data()
  const guid = await added('Saw')
  for (const board of boards) expect(await board.data()).toMatchObject({ todo: ['Saw'] })
  await move(guid, 'done')
  for (const board of boards) expect(await board.data()).toMatchObject({ todo: [], done: ['Saw'] })
  for (const board of boards) board.close()
})

/** What a page does with EventSource; it ends when `enough` events have come. */
const follow = `(path, enough) => new Promise((resolve) => {
  const seen = []
  const source = new EventSource(path)
  source.onmessage = ({ data }) => {
    seen.push(JSON.parse(data))
    document.title = String(seen.length)
    if (seen.length === enough) { source.close(); resolve(seen) }
  }
})`

test('in a browser, also after the stream has ended', async () => {
  const address = addresses.at(-1) ?? ''
  const browser = await shareBrowser()
  const page = await (await browser.newContext()).newPage()
  try {
    await page.goto(`${address}/login`)
    const seen = page.evaluate(`(${follow})('/api/v1/board', 3)`)
    await expect.poll(() => page.title(), { timeout: 30_000 }).toBe('1')
    await added('Drill')
    await expect.poll(() => page.title(), { timeout: 30_000 }).toBe('2')
    for (const [guid, { name }] of first().quoin.flows.live.table().blueprints)
      if (name === 'board') await first().manage('PUT', `/blueprints/update/set/active/${guid}`)
    await added('Glue')
    const boards = await seen
    expect(boards).toEqual([
      expect.not.objectContaining({ todo: expect.arrayContaining(['Drill']) }),
      expect.objectContaining({ todo: ['Drill'] }),
      expect.objectContaining({ todo: ['Drill', 'Glue'] }),
    ])
  } finally {
    await browser.close()
  }
})
