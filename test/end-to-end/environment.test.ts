/** Values of the environment in every kind of run, and their changes in each process. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { blockCounts } from '../../src/flows/compile/graph-wiring.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { startLocalServer } from '../local-server.ts'
import { openVisitor } from '../page-visitor.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { soon } from './tracing-fixture.ts'

const onPostgres = inject('engine') === 'postgres'
const open = { scopes: ['*public'] }
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })
const reply = (flow: string, value: JsonValue) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const keep = (flow: string, how: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'notes', set: `={ how: "${how}", color: env.COLOR }` },
})

const blocks: JsonObject = {
  read: get('color'),
  shown: reply('@read.flow', '=env.COLOR ?? "none"'),

  find: get('found'),
  search: {
    type: 'function_search',
    in: { flow: '@find.flow', storage: 'goods', where: '=doc.color == env.COLOR' },
  },
  found: reply('@search.flow', '=search.documents.map(one => one.name)'),

  call: get('called'),
  called_function: { type: 'function_custom_execute', in: { flow: '@call.flow', function: 'colored' } },
  function: { type: 'trigger_custom_function', fields: { name: 'colored' } },
  result: { type: 'function_return', in: { flow: '@function.flow', value: '=env.COLOR' } },
  called: reply('@called_function.flow', '=called_function.value'),

  enqueue: post('later'),
  later: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@enqueue.flow', function: 'noted', queue: 'notes' },
  },
  noted: { type: 'trigger_custom_function', fields: { name: 'noted' } },
  from_job: keep('@noted.flow', 'job'),

  schedule: { type: 'schedule_repeating_event', in: { every: '1s' } },
  from_schedule: keep('@schedule.flow', 'schedule'),

  page: { type: 'state_page', in: { url: 'color-page', title: 'Color' } },
  text: { type: 'state_text', in: { text: '="It is " + env.COLOR + "."' } },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@text.state' } },
}

/** What one value is set to, by the API. */
function setter(manage: TestQuoin['manage']) {
  let guid: string | undefined
  return async (value: JsonValue) => {
    if (guid === undefined)
      guid = guidOf(await manage('POST', '/_system/environment', { name: 'COLOR', value }))
    else await manage('PUT', `/_system/environment/${guid}`, { value })
  }
}

describe('one process', () => {
  let quoin: TestQuoin
  let origin: string
  let setColor: (value: JsonValue) => Promise<void>
  beforeAll(async () => {
    quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0', QUOIN_ALLOWED_HOSTS: '127.0.0.1' })
    origin = await quoin.quoin.server.listen()
    setColor = setter(quoin.manage)
    await quoin.install('Colors', blocks)
    const session = quoin.quoin.database.session()
    for (const one of [{ name: 'a', color: 'red' }, { name: 'b', color: 'blue' }, { name: 'c' }])
      await session.create('goods', setFields(one))
    await session.transaction.commit()
  })
  afterAll(() => quoin.close())

  const asked = async (path: string) => (await quoin.send('GET', path)).body
  const executed = () =>
    blockCounts(quoin.quoin.flows.catalogue)
      .entries()
      .reduce((all, [, count]) => all + count, 0)

  test('the deploy warned of the missing value, and its flows run without it', async () => {
    const log = await quoin.systemLog()
    const warned = log.filter(({ message }) => String(message).includes('env.COLOR'))
    expect(warned.map(({ level }) => level)).toEqual(['warn'])
    expect([await asked('/color'), await asked('/found')]).toEqual(['none', []])
  })

  test.each(['red', 'blue'])(
    'an endpoint, a search, a function and a page read what is set: %s',
    async (color) => {
      await setColor(color)
      expect([await asked('/color'), await asked('/found'), await asked('/called')]).toEqual([
        color,
        [color === 'red' ? 'a' : 'b'],
        color,
      ])
      const page = await openVisitor(origin).get('/color-page')
      expect([page.status, page.html.includes(`It is ${color}.`)]).toEqual([200, true])
    },
  )

  test.each(['job', 'schedule'])('a %s reads what is set when it runs', async (how) => {
    const color = `color of ${how}`
    await setColor(color)
    if (how === 'job') await quoin.send('POST', '/later', { body: {} })
    const note = await soon(async () =>
      (await quoin.documents('notes')).find((one) => one.how === how && one.color === color),
    )
    expect(note.color).toBe(color)
  })

  test('a reply is made again after a change, and not before', async () => {
    await setColor('green')
    for (let n = 0; n < 4; n++) expect(await asked('/color')).toBe('green')
    const before = executed()
    for (let n = 0; n < 3; n++) expect(await asked('/color')).toBe('green')
    expect(executed()).toBe(before)
    await setColor('grey')
    for (let n = 0; n < 3; n++) expect(await asked('/color')).toBe('grey')
  })

  test('a run sees one set of values, also when one changes under way', async () => {
    await setColor('before')
    const server = await startLocalServer((_request, response) => {
      setColor('after').then(() => response.end('changed'))
    })
    await quoin.install('Slow', {
      on: post('slow'),
      first: { type: 'set_value', in: { flow: '@on.flow', value: '=env.COLOR' }, fields: { name: 'first' } },
      wait: { type: 'http_request', in: { flow: '@first.flow', url: server.url } },
      had: { type: 'value', fields: { name: 'first' } },
      reply: reply('@wait.flow', '=[had.value, env.COLOR]'),
    })
    const slow = await quoin.send('POST', '/slow', { body: {} })
    expect([slow.body, await asked('/color')]).toEqual([['before', 'before'], 'after'])
    await server.close()
  })

  test('a removed value is nothing', async () => {
    const [record] = objectsOf(await quoin.manage('POST', '/_system/environment/search', {}))
    await quoin.manage('DELETE', `/_system/environment/${guidOf(record)}`)
    expect([await asked('/color'), await asked('/found')]).toEqual(['none', []])
  })
})

function twoNodes(): void {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    one = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one', QUOIN_RATE_LIMIT: '0' })
    two = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two', QUOIN_RATE_LIMIT: '0' })
    await one.install('Colors', { read: get('color'), shown: reply('@read.flow', '=env.COLOR ?? "none"') })
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await temporary?.drop()
  })

  test('what was acknowledged by one is read by both', async () => {
    const setColor = setter(one.manage)
    const seen = async () => [(await one.send('GET', '/color')).body, (await two.send('GET', '/color')).body]
    expect(await seen()).toEqual(['none', 'none'])
    for (let n = 0; n < 10; n++) {
      await setColor(`color ${n}`)
      expect(await seen()).toEqual([`color ${n}`, `color ${n}`])
    }
    const [record] = objectsOf(await two.manage('POST', '/_system/environment/search', {}))
    await two.manage('DELETE', `/_system/environment/${guidOf(record)}`)
    expect(await seen()).toEqual(['none', 'none'])
  })
}

if (onPostgres) describe('two nodes', twoNodes)
