/**
 * Every way to start a run × a conflict in its first try: nothing of the first try reaches the second one or stays, and the answer is
 * that of the last try. The conflict is injected, so no race is needed: the block that logs throws what an engine throws.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import log from '../../src/blocks/logic/function_console_log.ts'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { SerializationConflict } from '../../src/storage/unit-of-work.ts'
import { readEvents } from '../event-reader.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import { guidOf, objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'

const { run: original } = log
/** How often a run of each way has come to the conflict. */
const tries = new Map<string, number>()

let fixture: TestQuoin
let address: string

/**
 * What a run may leave: a variable, a result in the cache, a document, an entry of the log, a message, a job. Then comes the conflict,
 * once. `mark` differs in each try.
 */
const work = (way: string, from: string): JsonObject => ({
  [`${way}_sum`]: { type: 'set_value', in: { flow: from, value: 1 }, fields: { name: 'n', mode: 'add' } },
  [`${way}_n`]: { type: 'value', in: { default: 0 }, fields: { name: 'n' } },
  [`${way}_read`]: {
    type: 'function_search',
    in: {
      ...{ flow: `@${way}_sum.flow`, storage: 'made', where: `=doc.way == '${way}'` },
      ...{ cache_key: way, cache_seconds: 3_600 },
    },
  },
  [`${way}_made`]: {
    type: 'function_create_document_from_mutations',
    in: {
      flow: `@${way}_read.flow`,
      storage: 'made',
      set: `={ way: '${way}', mark: uuid(), before: length(${way}_read.documents), cached: ${way}_read.from_cache, n: ${way}_n.value }`,
    },
  },
  [`${way}_log`]: {
    type: 'function_console_log',
    in: { flow: `@${way}_made.flow`, value: `='${way} ' + ${way}_made.document.mark` },
  },
  [`${way}_told`]: {
    type: 'publish',
    in: {
      flow: `@${way}_log.flow`,
      channel: 'tries',
      value: `={ way: '${way}', mark: ${way}_made.document.mark }`,
    },
  },
  [`${way}_job`]: {
    type: 'function_custom_execute_from_queue',
    in: { flow: `@${way}_told.flow`, function: 'collect', way, mark: `=${way}_made.document.mark` },
    fields: { parameters: ['way', 'mark'] },
  },
  [`${way}_end`]: {
    type: 'function_console_log',
    in: { flow: `@${way}_job.flow`, value: `conflict ${way}` },
  },
})

const reply = (way: string): JsonObject => ({
  [`${way}_reply`]: {
    type: 'httpconnection_set_json',
    in: { flow: `@${way}_end.flow`, value: `=${way}_made.document.mark` },
  },
})
const open = { scopes: ['*public'] }
const on = (method: string, uri: string) => ({
  type: `on_startup_register_uri_${method}`,
  in: { uri },
  ...open,
})
const queued = (way: string): JsonObject => ({
  [`${way}_post`]: on('post', way),
  [`${way}_later`]: {
    type: 'function_custom_execute_from_queue',
    in: { flow: `@${way}_post.flow`, function: `do_${way}` },
  },
  [`${way}_do`]: { type: 'trigger_custom_function', fields: { name: `do_${way}` } },
})
const page = (way: string, event: string, part: JsonObject): JsonObject => ({
  [`${way}_page`]: { type: 'state_page', in: { url: `see/${way}`, title: way }, ...open },
  [`${way}_part`]: part,
  [`${way}_show`]: {
    type: 'state_render_page',
    in: { flow: `@${way}_page.flow`, state: `@${way}_part.state` },
  },
  ...work(way, `@${way}_part.${event}`),
  [`${way}_to`]: {
    type: 'state_redirect',
    in: { flow: `@${way}_end.flow`, url: `='/see/${way}?mark=' + ${way}_made.document.mark` },
  },
})

const post = async (uri: string, body: JsonValue = {}): Promise<JsonValue | undefined> => {
  const answer = await fixture.send('POST', `/${uri}`, { body })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}

/** As an agent calls it. */
async function toolCalled(name: string, input: JsonObject): Promise<unknown> {
  const answer = objectOf(await fixture.manage('POST', `/_system/tools/${name}`, input))
  return JSON.parse(String(answer.text))
}

interface Way {
  readonly blocks: (way: string) => JsonObject
  /** Starts the run; gives the mark that it replies with, or undefined where nothing is replied. */
  readonly start: (way: string, visitor: Visitor, blueprint: string) => Promise<unknown>
}

const endpoint = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'): Way => ({
  blocks: (way) => ({ [way]: on(method.toLowerCase(), way), ...work(way, `@${way}.flow`), ...reply(way) }),
  start: async (way) =>
    (await fixture.send(method, `/${way}`, method === 'DELETE' || method === 'GET' ? {} : { body: {} })).body,
})

/** A document that the resource already has is changed or removed once, whatever the first try did. */
const resource = (method: 'PUT' | 'DELETE', event: string): Way => ({
  blocks: (way) => ({
    [way]: { type: 'on_startup_register_resource', in: { uri: way, storage: `of_${way}` }, ...open },
    ...work(way, `@${way}.${event}`),
  }),
  async start(way) {
    const made = objectOf(await post(way, { name: 'a', note: 'b' }))
    const path = `/${way}/${String(objectOf(made._meta).guid)}`
    const answer = await fixture.send(method, path, method === 'DELETE' ? {} : { body: { name: 'c' } })
    expect(answer.status, answer.text).toBeLessThan(300)
    const left = await fixture.documents(`of_${way}`)
    expect(left).toMatchObject(method === 'DELETE' ? [] : [{ name: 'c' }])
    return undefined
  },
})

async function sent(visitor: Visitor, way: string, form: string | undefined, button?: string, values = {}) {
  const shown = await visitor.get(`/see/${way}`)
  const answer = await visitor.submit(shown, form, values, button === undefined ? {} : { button })
  expect(answer.status, answer.text).toBe(303)
  return new URL(answer.headers.get('location') ?? '', address).searchParams.get('mark')
}

const ways: Readonly<Record<string, Way>> = {
  get: endpoint('GET'),
  post: endpoint('POST'),
  put: endpoint('PUT'),
  patch: endpoint('PATCH'),
  delete: endpoint('DELETE'),
  called: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_call`]: { type: 'function_custom_execute', in: { flow: `@${way}.flow`, function: 'called' } },
      [`${way}_sent`]: {
        type: 'httpconnection_set_json',
        in: { flow: `@${way}_call.flow`, value: `=${way}_call.value` },
      },
      [`${way}_do`]: { type: 'trigger_custom_function', fields: { name: 'called' } },
      ...work(way, `@${way}_do.flow`),
      [`${way}_back`]: {
        type: 'function_return',
        in: { flow: `@${way}_end.flow`, value: `=${way}_made.document.mark` },
      },
    }),
    start: (way) => post(way),
  },
  resource: {
    blocks: (way) => ({
      [way]: { type: 'on_startup_register_resource', in: { uri: way, storage: 'resources' }, ...open },
      ...work(way, `@${way}.before_create`),
    }),
    start: async (way) => {
      await post(way, { name: 'a' })
      expect(await fixture.documents('resources')).toHaveLength(1)
      return undefined
    },
  },
  resource_put: resource('PUT', 'before_change'),
  resource_delete: resource('DELETE', 'before_remove'),
  imported: {
    blocks: (way) => ({
      [way]: { type: 'storage_event', in: { storage: 'imported', events: ['on_created'] } },
      ...work(way, `@${way}.flow`),
    }),
    async start() {
      const answer = await fixture.quoin.server.app.inject({
        ...{ method: 'POST', url: '/api/v1/_system/storages/imported/documents/import', payload: '{"a":1}' },
        headers: {
          authorization: `Bearer ${await fixture.tokenOf('admin')}`,
          'content-type': 'application/x-ndjson',
        },
      })
      expect(answer.statusCode, answer.body).toBe(200)
      return undefined
    },
  },
  form: {
    blocks: (way) =>
      page(way, 'submit', { type: 'state_form', in: { form_id: 'f', inputs: [{ field: 'name' }] } }),
    start: (way, visitor) => sent(visitor, way, 'f', undefined, { name: 'Ann' }),
  },
  button: {
    blocks: (way) => page(way, 'click', { type: 'state_button', in: { label: 'Go', kind: 'action' } }),
    start: (way, visitor) => sent(visitor, way, undefined, 'Go'),
  },
  row: {
    blocks: (way) =>
      page(way, 'row_action', {
        type: 'state_advanced_datatable',
        in: { storage: 'rows', table_id: 't', columns: ['name'], actions: [{ name: 'take', label: 'Take' }] },
      }),
    async start(way, visitor) {
      await fixture.quoin.database.ensure('rows')
      const session = fixture.quoin.database.session()
      await session.create('rows', [{ op: 'set', field: 'name', value: 'one' }])
      await session.transaction.commit()
      return sent(visitor, way, 't', 'Take')
    },
  },
  job: {
    blocks: (way) => ({ ...queued(way), ...work(way, `@${way}_do.flow`) }),
    start: async (way) => void (await post(way)),
  },
  schedule: {
    blocks: (way) => ({
      [way]: { type: 'schedule_repeating_event', in: { every: '1s' } },
      // Later ticks find what the first one has made.
      [`${way}_made_before`]: {
        type: 'function_search_single_result',
        in: { flow: `@${way}.flow`, storage: 'made', where: `=doc.way == '${way}'` },
      },
      ...work(way, `@${way}_made_before.not_found`),
    }),
    start: async () => undefined,
  },
  event: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_thing`]: {
        type: 'function_create_document_from_mutations',
        in: { flow: `@${way}.flow`, storage: 'things', set: '={ a: 1 }' },
      },
      [`${way}_on`]: { type: 'storage_event', in: { storage: 'things', events: ['on_created'] } },
      ...work(way, `@${way}_on.flow`),
    }),
    start: async (way) => void (await post(way)),
  },
  failure: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_fail`]: { type: 'fail', in: { flow: `@${way}.flow`, status: 502, message: 'Broken.' } },
      [`${way}_on`]: { type: 'failure_event', in: { events: ['on_run_failed'] } },
      ...work(way, `@${way}_on.flow`),
    }),
    start: async (way) => void (await fixture.send('POST', `/${way}`, { body: {} })),
  },
  approval: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_wait`]: { type: 'wait_for_approval', in: { flow: `@${way}.flow`, title: 'Order', for: '1h' } },
      [`${way}_now`]: { type: 'reply', in: { flow: `@${way}_wait.now`, value: `=${way}_wait.link` } },
      ...work(way, `@${way}_wait.approved`),
    }),
    async start(way, visitor) {
      const link = await post(way)
      const decided = await visitor.submit(
        await visitor.get(String(link)),
        'decision',
        {},
        { button: 'Approve' },
      )
      expect(decided.status).toBe(200)
      return undefined
    },
  },
  timer: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_wait`]: { type: 'wait', in: { flow: `@${way}.flow`, for: '1s' } },
      ...work(way, `@${way}_wait.flow`),
    }),
    start: async (way) => void (await fixture.send('POST', `/${way}`, { body: {} })),
  },
  webhook: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_wait`]: { type: 'wait_for_webhook', in: { flow: `@${way}.flow`, for: '1h' } },
      [`${way}_now`]: { type: 'reply', in: { flow: `@${way}_wait.now`, value: `=${way}_wait.address` } },
      ...work(way, `@${way}_wait.received`),
    }),
    async start(way) {
      const hook = new URL(String(await post(way)), address)
      const answer = await fetch(new URL(hook.pathname + hook.search, address), {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json' },
      })
      expect(answer.status).toBeLessThan(300)
      return undefined
    },
  },
  document: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_wait`]: {
        type: 'wait_for_document',
        in: { flow: `@${way}.flow`, storage: 'awaited', where: '=doc.a == 1', for: '1h' },
      },
      ...work(way, `@${way}_wait.found`),
    }),
    async start(way) {
      await fixture.send('POST', `/${way}`, { body: {} })
      const storages = objectsOf(await fixture.manage('POST', '/_system/storages/search', {}))
      const guid = guidOf(storages.find(({ name }) => name === 'awaited'))
      await fixture.manage('POST', `/_system/storages/${guid}/documents`, { a: 1 })
      return undefined
    },
  },
  each: {
    blocks: (way) => ({
      [way]: on('post', way),
      [`${way}_call`]: {
        type: 'function_custom_execute_each',
        in: { flow: `@${way}.flow`, function: 'each_one', array: '=["a"]' },
      },
      [`${way}_sent`]: { type: 'reply', in: { flow: `@${way}_call.flow`, value: `=${way}_call.values[0]` } },
      [`${way}_do`]: { type: 'trigger_custom_function', fields: { name: 'each_one' } },
      ...work(way, `@${way}_do.flow`),
      [`${way}_back`]: {
        type: 'function_return',
        in: { flow: `@${way}_end.flow`, value: `=${way}_made.document.mark` },
      },
    }),
    start: (way) => post(way),
  },
  tool: {
    blocks: (way) => ({
      [way]: {
        type: 'trigger_custom_function',
        fields: { name: way, description: 'Is tried.', tool: way },
        scopes: ['*loggedin'],
      },
      ...work(way, `@${way}.flow`),
      [`${way}_back`]: {
        type: 'function_return',
        in: { flow: `@${way}_end.flow`, value: `=${way}_made.document.mark` },
      },
    }),
    start: (way) => toolCalled(way, {}),
  },
  tool_of_endpoint: {
    blocks: (way) => ({
      [way]: { ...on('post', way), fields: { tool: way, summary: 'Is tried.' }, scopes: ['*loggedin'] },
      ...work(way, `@${way}.flow`),
      ...reply(way),
    }),
    start: (way) => toolCalled(way, {}),
  },
  stream: {
    blocks: (way) => ({
      [way]: on('get', way),
      ...work(way, `@${way}.flow`),
      [`${way}_subscribe`]: {
        type: 'subscribe',
        in: { flow: `@${way}_end.flow`, channel: 'none', first: `=${way}_made.document.mark` },
      },
    }),
    async start(way) {
      const reader = await readEvents(`${address}/api/v1/${way}`)
      const first = await reader.data()
      reader.close()
      return first
    },
  },
  hand: {
    blocks: (way) => ({
      [way]: { type: 'trigger_custom_function', fields: { name: 'by_hand' } },
      ...work(way, `@${way}.flow`),
    }),
    async start(way, _visitor, blueprint) {
      const blocks = await fixture.manage('GET', `/blueprints/${blueprint}/blocks`)
      const trigger = (Array.isArray(blocks) ? blocks : []).map(objectOf).find(({ name }) => name === way)
      const { guid } = objectOf(trigger?._meta)
      const body = { trigger: guid ?? '', effects: 'real', input: {} }
      await fixture.manage('POST', `/blueprints/${blueprint}/run`, body)
      return undefined
    },
  },
}

beforeAll(async () => {
  Object.assign(log, {
    run(...[inputs, context]: Parameters<typeof original>) {
      const [word, way = ''] = String(inputs.value).split(' ')
      if (word !== 'conflict') return original(inputs, context)
      tries.set(way, (tries.get(way) ?? 0) + 1)
      if (tries.get(way) === 1) throw new SerializationConflict()
      return undefined
    },
  })
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  address = await fixture.quoin.server.listen()
  await fixture.install('Around', {
    collect: {
      type: 'trigger_custom_function',
      out: [
        { id: 'way', type: 'value' },
        { id: 'mark', type: 'value' },
      ],
      fields: { name: 'collect' },
    },
    job: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@collect.flow', storage: 'jobs', set: '={ way: params.way, mark: params.mark }' },
    },
    watch: on('get', 'watch'),
    subscribe: {
      type: 'subscribe',
      in: { flow: '@watch.flow', channel: 'tries', first: '={ way: "first" }' },
    },
  })
})
afterAll(async () => {
  await fixture?.close()
  Object.assign(log, { run: original })
})

const markedIn = async (storage: string, way: string) =>
  (await fixture.documents(storage)).filter((one) => one.way === way).map(({ mark }) => mark)

describe('after a conflict in its first try', () => {
  test.each(Object.entries(ways))(
    'a run started by %s is as if it had been tried once',
    async (way, { blocks, start }) => {
      const blueprint = await fixture.install(way, blocks(way))
      const reported = await readEvents(`${address}/api/v1/watch`)
      expect(await reported.data()).toEqual({ way: 'first' })
      const replied = await start(way, openVisitor(address), blueprint)
      await expect.poll(() => markedIn('jobs', way), { timeout: 10_000 }).toHaveLength(1)
      expect(tries.get(way)).toBe(2)
      const made = (await fixture.documents('made')).filter((one) => one.way === way)
      expect(made).toMatchObject([{ before: 0, cached: false, n: 1 }])
      const mark = made[0]?.mark
      if (replied !== undefined) expect(replied).toBe(mark)
      expect(await markedIn('jobs', way)).toEqual([mark])
      expect(await reported.data()).toEqual({ way, mark })
      reported.close()
      const logged = (await fixture.systemLog()).filter(({ message }) =>
        String(message).startsWith(`${way} `),
      )
      expect(logged).toMatchObject([{ message: `${way} ${String(mark)}` }])
      await fixture.manage('PUT', `/blueprints/update/set/inactive/${blueprint}`)
    },
  )
})
