import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startLocalServer } from '../../../test/local-server.ts'
import { type FlowBlocks, type FlowFixture, openFlowFixture, replyWith } from '../../../test/run-flow.ts'
import { matchAll, search } from '../../shared/query.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const values = async (blocks: FlowBlocks, request = {}) =>
  (await fixture.run(blocks, request)).replies.map((reply) => reply.value)

/** Creates a document { name } in the storage and goes on. */
const creates = (name: string, flow: string | readonly string[], storage: string) => ({
  [`m_${name}`]: { type: 'mutations_set_custom_field', in: { field: 'name', value: name } },
  [name]: {
    type: 'function_create_document_from_mutations',
    in: { flow, storage: `@${storage}.storage`, mutations: `@m_${name}.mutations` },
  },
})
const storageBlock = (name: string) => ({ [name]: { type: 'storage', fields: { storage: name } } })
const stored = (name: string) => fixture.database.session().count(name, matchAll)

describe('values are pulled', () => {
  test('a literal arrives as the reply, in one turn', async () => {
    const { replies, atOnce } = await fixture.run(replyWith('hello'), {}, {}, { clock: () => 0 })
    expect(replies).toEqual([{ code: 200, value: 'hello', headers: {} }])
    expect(atOnce).toBe(true)
  })

  test('a constant chain is folded: the budget of a run does not see it', async () => {
    const blocks = replyWith('@b.value', {
      a: { type: 'value_default', in: { default: 'deep' } },
      b: { type: 'value_default', in: { value: '@a.value' } },
    })
    const { replies, end } = await fixture.run(blocks, {}, { budget: 1 })
    expect(end.error).toBeUndefined()
    expect(replies[0]?.value).toBe('deep')
  })

  test('a value is kept for the rest of the run, and pulled again when a flow block before it runs again', async () => {
    const storage = 'pulled_anew'
    const blocks = {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
      ...storageBlock(storage),
      ...creates('first', '@get.flow', storage),
      ...creates('second', '@first.flow', storage),
      total: { type: 'object_new_fields', fields: { fields: ['n'] }, in: { n: '@count.total' } },
      // Pulled before the search has run, then again after it.
      before: { type: 'function_console_log', in: { flow: '@second.flow', value: '@total.object' } },
      count: { type: 'function_search', in: { flow: '@before.flow', storage: `@${storage}.storage` } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@count.flow', value: '@total.object' } },
    }
    const { logs, replies } = await fixture.run(blocks)
    expect(logs.map((log) => log.value)).toEqual([{}])
    expect(replies[0]?.value).toEqual({ n: 2 })
  })

  test.each([
    ['limit=abc', { limit: 'abc' }, 'limit must be a whole number from 0 to 10,000'],
    ['limit=-1', { limit: '-1' }, 'limit must be a whole number from 0 to 10,000'],
  ])('%s is the requester’s fault, by the name of the parameter', async (_, query, message) => {
    const blocks = replyWith(
      '@find.documents',
      {
        ...storageBlock('things'),
        limit: { type: 'httpconnection_get_params', in: { field: 'limit' } },
        find: {
          type: 'function_search',
          in: { flow: '@get.flow', storage: '@things.storage', limit: '@limit.value' },
        },
      },
      '@find.flow',
    )
    const { end, replies } = await fixture.run(blocks, { query })
    expect(end.error).toMatchObject({ code: 'INVALID_QUERY', message, fields: ['limit'] })
    expect(replies).toEqual([])
  })

  test('a value of our own that does not fit is our fault, and the log says where', async () => {
    const blocks = replyWith('@find.documents', {
      ...storageBlock('things'),
      bad: { type: 'object_new_fields', fields: { fields: ['n'] }, in: { n: 'abc' } },
      read: { type: 'object_update_fields', fields: { out_fields: ['n'] }, in: { object: '@bad.object' } },
      find: {
        type: 'function_search',
        in: { flow: '@get.flow', storage: '@things.storage', limit: '@read.n' },
      },
    })
    const { end, logs } = await fixture.run(blocks)
    expect(end.error?.code).toBe('INTERNAL')
    expect(logs).toMatchObject([{ level: 'error', block: 'find', pin: 'limit' }])
  })
})

describe('frames', () => {
  test('array_map pulls its result once per item, nested too', async () => {
    const blocks = replyWith('@outer.array', {
      sent: { type: 'httpconnection_current_request' },
      outer: { type: 'array_map', in: { array: '@sent.body', result: '@row.object' } },
      inner: { type: 'array_map', in: { array: '@outer.item', result: '@cell.object' } },
      cell: {
        type: 'object_new_fields',
        fields: { fields: ['row', 'column', 'value'] },
        in: { row: '@outer.index', column: '@inner.index', value: '@inner.item' },
      },
      row: { type: 'object_new_fields', fields: { fields: ['cells'] }, in: { cells: '@inner.array' } },
    })
    expect(await values(blocks, { body: [['a', 'b'], ['c']] })).toEqual([
      [
        {
          cells: [
            { row: 0, column: 0, value: 'a' },
            { row: 0, column: 1, value: 'b' },
          ],
        },
        { cells: [{ row: 1, column: 0, value: 'c' }] },
      ],
    ])
  })

  test('a custom function has values of its own in each call', async () => {
    const blocks = replyWith(
      '@both.object',
      {
        define: {
          type: 'trigger_custom_function',
          fields: { name: 'greet' },
          out: [{ id: 'who', type: 'value' }],
        },
        greeting: { type: 'object_new_fields', fields: { fields: ['hello'] }, in: { hello: '@define.who' } },
        give: { type: 'function_return', in: { flow: '@define.flow', value: '@greeting.object' } },
        one: {
          type: 'function_custom_execute',
          fields: { parameters: ['who'] },
          in: { flow: '@get.flow', function: 'greet', who: 'Ada' },
        },
        two: {
          type: 'function_custom_execute',
          fields: { parameters: ['who'] },
          in: { flow: '@one.flow', function: 'greet', who: 'Bob' },
        },
        both: {
          type: 'object_new_fields',
          fields: { fields: ['a', 'b'] },
          in: { a: '@one.value', b: '@two.value' },
        },
      },
      '@two.flow',
    )
    expect(await values(blocks)).toEqual([{ a: { hello: 'Ada' }, b: { hello: 'Bob' } }])
  })

  test('functions that call each other for ever are stopped, and it is logged', async () => {
    const blocks = replyWith(
      'never',
      {
        define: { type: 'trigger_custom_function', fields: { name: 'again' } },
        again: { type: 'function_custom_execute', in: { flow: '@define.flow', function: 'again' } },
        start: { type: 'function_custom_execute', in: { flow: '@get.flow', function: 'again' } },
      },
      '@start.flow',
    )
    const { end, replies, logs } = await fixture.run(blocks)
    expect(end.error?.code).toBe('INTERNAL')
    expect(replies).toEqual([])
    expect(logs[0]?.message).toMatch(/called each other 9 deep/)
  })
})

describe('branches', () => {
  test('one out-pin wired to several blocks runs all of them', async () => {
    const storage = 'branches'
    const blocks = {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
      ...storageBlock(storage),
      ...creates('left', '@get.flow', storage),
      ...creates('right', '@get.flow', storage),
      reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'sent' } },
    }
    const { end } = await fixture.run(blocks)
    expect(end).toMatchObject({ replied: true, error: undefined })
    expect(await stored(storage)).toBe(2)
  })

  test('branches that wait do so side by side', async () => {
    let open = 0
    let most = 0
    const waiting: (() => void)[] = []
    const server = await startLocalServer((_request, response) => {
      open += 1
      most = Math.max(most, open)
      waiting.push(() => response.end('{}'))
      // Both are answered only when both are there: one after the other would never end.
      if (open === 2) for (const answer of waiting) answer()
    })
    try {
      const call = { type: 'http_request', in: { flow: '@get.flow', url: server.url } }
      const { end } = await fixture.run({ ...replyWith('x'), left: call, right: call })
      expect(end.error).toBeUndefined()
      expect(most).toBe(2)
    } finally {
      await server.close()
    }
  })

  test('a branch that fails undoes what the others have not made durable', async () => {
    const storage = 'failed_branches'
    const blocks = {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
      ...storageBlock(storage),
      ...creates('kept', '@get.flow', storage),
      fails: { type: 'function_custom_execute', in: { flow: '@get.flow', function: 'missing' } },
    }
    const { end } = await fixture.run(blocks)
    expect(end.error?.code).toBe('INTERNAL')
    expect(await stored(storage)).toBe(0)
  })
})

describe('failing', () => {
  const failing = (flow: string) => ({
    fails: { type: 'function_custom_execute', in: { flow, function: 'missing' } },
  })

  test('what was written before the reply stays, what was written after it is undone', async () => {
    const storage = 'after_reply'
    const blocks = {
      get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
      ...storageBlock(storage),
      ...creates('before', '@get.flow', storage),
      reply: {
        type: 'httpconnection_set_json',
        in: { flow: '@before.flow', code: 201, value: '@before.document' },
      },
      ...creates('after', '@reply.flow', storage),
      ...failing('@after.flow'),
    }
    const { end, replies, logs } = await fixture.run(blocks)
    expect(replies).toMatchObject([{ code: 201 }])
    expect(end).toMatchObject({ replied: true, error: { code: 'INTERNAL' } })
    expect(logs).toMatchObject([{ level: 'error', block: 'fails' }])
    const found = await fixture.database.session().find(storage, search())
    expect(found.documents.value).toMatchObject([{ name: 'before' }])
  })

  test('a wired error pin takes the failure and tells it', async () => {
    const blocks = replyWith('@fails.error', failing('@get.flow'), '@fails.error')
    const { end, replies } = await fixture.run(blocks)
    expect(end.error).toBeUndefined()
    expect(replies[0]?.value).toEqual({ code: 'INTERNAL', message: 'internal error', block: 'fails' })
  })

  test('a second reply is ignored and logged', async () => {
    const again = { type: 'httpconnection_set_json', in: { flow: '@reply.flow', code: 500, value: 'second' } }
    const { replies, logs } = await fixture.run({ ...replyWith('first'), again })
    expect(replies.map((reply) => reply.value)).toEqual(['first'])
    expect(logs).toMatchObject([{ level: 'warn', block: 'again' }])
  })
})

describe('bounds', () => {
  const loop = {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'test' } },
    one: { type: 'function_console_log', in: { flow: ['@get.flow', '@two.flow'] } },
    two: { type: 'branch', in: { flow: '@one.flow', condition: true } },
  }
  const endless = { ...loop, one: { ...loop.one, in: { flow: ['@get.flow', '@two.true'] } } }

  test('a loop without end stops at its budget', async () => {
    const { end, logs } = await fixture.run(endless, {}, { budget: 1000 })
    expect(end.error?.code).toBe('UNAVAILABLE')
    expect(logs.at(-1)?.message).toMatch(/executed 1000 blocks/)
  })

  test('a loop without end stops at its deadline and lets others have their turn', async () => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 5)
    // Long enough for a turn on a machine that stalls for a while.
    const { end } = await fixture.run(endless, {}, { deadline: 1_000, budget: 1e9 })
    clearInterval(timer)
    expect(end.error?.code).toBe('UNAVAILABLE')
    expect(turns).toBeGreaterThan(0)
  })

  test('a block that waits is stopped at the deadline', async () => {
    const server = await startLocalServer(() => undefined)
    try {
      const blocks = {
        ...replyWith('late', {}, '@wait.flow'),
        wait: { type: 'http_request', in: { flow: '@get.flow', url: server.url } },
      }
      const { end, replies } = await fixture.run(blocks, {}, { deadline: 100 })
      expect(end.error?.code).toBe('UNAVAILABLE')
      expect(replies).toEqual([])
    } finally {
      await server.close()
    }
  })
})

describe('a flow that forks', () => {
  const create = (name: string, flow: string) => ({
    type: 'function_create_document_from_mutations',
    in: { flow, storage: 'forked', set: `={ name: '${name}' }` },
  })

  test('keeps what one branch writes while another one replies', async () => {
    await fixture.database.ensure('forked')
    const { replies, end, logs } = await fixture.run({
      ask: { type: 'on_startup_register_uri_post', in: { uri: 'fork' }, scopes: ['*public'] },
      a: create('a', '@ask.flow'),
      reply: { type: 'reply', in: { flow: '@a.flow', code: 201 } },
      b: create('b', '@ask.flow'),
      c: create('c', '@b.flow'),
      d: create('d', '@c.flow'),
    })
    expect([replies.length, end.error, logs]).toEqual([1, undefined, []])
    expect(await stored('forked')).toBe(4)
  })
})
