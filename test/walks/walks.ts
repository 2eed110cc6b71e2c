/**
 *   npm run walks              how many files of `src` four pieces of work execute; exit code 1 when one needs more than its limit
 *   npm run walks -- --files   and which
 *   npm run walks -- --node    only the three on one node, without PostgreSQL: a test runs these
 *
 * Each limit is what the walk needs now, so that no change makes one longer unnoticed: lower it when a walk gets shorter. A feature that
 * a blueprint does not use should cost its requests no call and no file; ARCHITECTURE.md tells the walks.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { findExamples } from '../../src/blocks/block-example.ts'
import { installBlueprint } from '../../src/flows/blueprints/install-blueprint.ts'
import { isJsonObject } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { guidOf, textIn } from '../../src/storage/document-fields.ts'
import { openPostgresServer } from '../postgres/postgres-server.ts'
import { type FileCounter, openFileCounter } from './executed-files.ts'
import { openWalkedQuoin, type WalkedQuoin } from './walked-quoin.ts'

interface Walk {
  readonly name: string
  readonly most: number
  readonly files: readonly string[]
}

/** Longer than a job waits to be claimed. */
const JOB_MS = 500
const EVENTS = 3

/** Files of each walk, at most. */
const limits = { get: 29, post: 75, event: 59, deploy: 183 }

async function onOneNode(counter: FileCounter): Promise<Walk[]> {
  const fixture = await openWalkedQuoin()
  try {
    const get = () => fixture.send('GET', '/tasks?limit=3').then(() => undefined)
    for (let n = 0; n < 5; n++) await get()
    const kept = await counter.during(get, { expected: limits.get })

    let tasks = 0
    const post = () => fixture.send('POST', '/tasks', { title: `task ${++tasks}` }).then(() => undefined)
    for (let n = 0; n < 3; n++) await post()
    const created = await counter.during(post, { expected: limits.post })

    await installEvents(fixture)
    let events = 0
    const write = async () => {
      events += 1
      const session = fixture.quoin.database.session()
      await session.create('orders', setFields({ item: 'tea', status: 'new' }))
      await session.transaction.commit()
      await wait(JOB_MS)
    }
    await write()
    const happened = await counter.during(write, { times: EVENTS, expected: limits.event })
    const log = await fixture.quoin.database.session().count('order-log', { kind: 'all' })
    if (log !== events) throw new Error(`Of ${events} events ${log} ran.`)
    return [
      { name: 'GET a list whose reply is kept', most: limits.get, files: kept },
      { name: 'POST that creates a document', most: limits.post, files: created },
      { name: 'storage event: write, job, run', most: limits.event, files: happened },
    ]
  } finally {
    await fixture.close()
  }
}

async function installEvents({ quoin }: WalkedQuoin): Promise<void> {
  const example = (await findExamples()).find(({ identifier }) => identifier === 'storage_event')
  if (!example) throw new Error('There is no example of storage_event.')
  await installBlueprint(quoin.flows, example.example.blueprint, { guid: '', username: 'walks' })
}

/** One changed block, deployed on one of three nodes. */
async function onThreeNodes(counter: FileCounter): Promise<Walk> {
  const server = await openPostgresServer()
  const rooms: WalkedQuoin[] = []
  try {
    const admin = new Client({ connectionString: server.url('postgres') })
    await admin.connect()
    await admin.query('CREATE DATABASE walks')
    await admin.end()
    for (const name of ['one', 'two', 'three'])
      rooms.push(await openWalkedQuoin({ DATABASE_URL: server.url('walks'), QUOIN_NODE: name }))
    const [fixture] = rooms
    if (!fixture) throw new Error('No node.')
    const { records: blocks } = await fixture.send('POST', '/blueprintactions/search', { limit: 100 })
    const [block] = Array.isArray(blocks) ? blocks.filter(isJsonObject) : []
    if (!block) throw new Error('The example has no blocks.')
    const blueprint = textIn(block.blueprint_guid)
    let moves = 0
    const moveBlock = async () => {
      moves += 1
      await fixture.send('PUT', `/blueprintactions/${guidOf(block)}`, { position: { x: moves, y: moves } })
      await fixture.send('POST', `/blueprintactions/unsaved/${blueprint}`)
    }
    const deploy = () => fixture.send('POST', `/blueprints/deploy/${blueprint}`).then(() => undefined)
    await moveBlock()
    await deploy()
    const files = await counter.during(deploy, { expected: limits.deploy, before: moveBlock })
    return { name: 'deploy of one changed block on three nodes', most: limits.deploy, files }
  } finally {
    for (const fixture of rooms.reverse()) await fixture.close()
    await server.close()
  }
}

const withFiles = process.argv.includes('--files')
const counter = await openFileCounter()
const walks = await onOneNode(counter)
if (!process.argv.includes('--node')) walks.push(await onThreeNodes(counter))
counter.close()
for (const { name, most, files } of walks) {
  const outcome = files.length > most ? '  TOO MANY' : files.length < most ? '  (lower its limit)' : ''
  console.log(`${String(files.length).padStart(4)} of at most ${most}  ${name}${outcome}`)
  if (withFiles) for (const file of files) console.log(`       ${file}`)
}
if (walks.some(({ most, files }) => files.length > most)) process.exitCode = 1
