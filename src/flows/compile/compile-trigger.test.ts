import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const get = { type: 'on_startup_register_uri_get', in: { uri: 'test' } }
const things = { type: 'storage', fields: { storage: 'things' } }
const find = { type: 'function_search', in: { flow: '@get.flow', storage: '@things.storage' } }
const reply = { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } }
const list = { get, things, find, reply }

function isCallerIndependent(blocks: FlowBlocks): boolean | undefined {
  return fixture.compile(blocks).blueprint?.endpoints[0]?.callerIndependent
}

function isCacheable(blocks: FlowBlocks): boolean | undefined {
  const { blueprint, problems } = fixture.compile(blocks)
  expect(problems).toEqual([])
  return blueprint?.endpoints[0]?.flow.cacheable
}

const set = { type: 'mutations_set_custom_field', in: { field: 'n', value: 1 } }
const create = {
  type: 'function_create_document_from_mutations',
  in: { flow: '@find.flow', storage: '@things.storage', mutations: '@set.mutations' },
}
const replying = (value: string) => ({ ...reply, in: { flow: '@find.flow', value } })
const finding = (pins: object) => ({ ...find, in: { ...find.in, ...pins } })

describe('a flow whose reply may be another one the next time', () => {
  test.each<[string, FlowBlocks]>([
    ['that is no GET', { ...list, get: { ...get, type: 'on_startup_register_uri_post' } }],
    ['that writes', { ...list, set, create, reply: { ...reply, in: { flow: '@create.flow', value: 1 } } }],
    [
      'that writes behind its reply',
      { ...list, set, create: { ...create, in: { ...create.in, flow: '@reply.flow' } } },
    ],
    [
      'that writes into the log',
      { ...list, log: { type: 'function_console_log', in: { flow: '@find.flow' } } },
    ],
    ['that looks at who asks', { ...list, user: { type: 'user_current' }, reply: replying('@user.user') }],
    [
      'that looks at the request',
      { ...list, request: { type: 'httpconnection_current_request' }, reply: replying('@request.ip') },
    ],
    [
      'that asks the whole request for its parameters',
      {
        ...list,
        request: { type: 'httpconnection_current_request' },
        limit: {
          type: 'httpconnection_get_params',
          in: { connection: '@request.connection', field: 'limit' },
        },
        find: finding({ limit: '@limit.value' }),
      },
    ],
    [
      'that looks at the clock',
      {
        ...list,
        lately: { type: 'query_bool_range_field', in: { field: '_meta.created', gte: 'now-1d' } },
        find: finding({ query: '@lately.query' }),
      },
    ],
    ['that keeps its search for a while', { ...list, find: finding({ cache_key: 'things' }) }],
    [
      'that goes on after an error, which may be over the next time',
      {
        ...list,
        sorry: { type: 'httpconnection_set_json', in: { flow: '@find.error', code: 200, value: 'Sorry' } },
      },
    ],
    [
      'that calls a custom function',
      {
        ...list,
        some: { type: 'trigger_custom_function', fields: { name: 'some' } },
        call: { type: 'function_custom_execute', in: { flow: '@find.flow', function: 'some' } },
      },
    ],
  ])('%s', (_, blocks) => {
    expect(isCacheable(blocks)).toBe(false)
  })
})

describe('a flow that follows from the address and what it reads', () => {
  test.each<[string, FlowBlocks]>([
    ['a constant', { get, reply: { ...reply, in: { flow: '@get.flow', value: { ok: true } } } }],
    ['a list', list],
    [
      'with parameters, by the connection and without',
      {
        ...list,
        kind: { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'kind' } },
        limit: { type: 'httpconnection_get_params', in: { field: 'limit' } },
        query: {
          type: 'query_bool_term_fields',
          in: { field: 'kind', value: '@kind.value', ignore_empty: true },
        },
        find: { ...find, in: { ...find.in, query: '@query.query', limit: '@limit.value' } },
      },
    ],
    [
      'that reads two storages on two ways',
      {
        ...list,
        others: { type: 'storage', fields: { storage: 'others' } },
        some: { type: 'condition_not_empty_value', in: { value: '@find.cursor' } },
        check: { type: 'branch', in: { flow: '@find.flow', condition: '@some.condition' } },
        read: {
          type: 'function_get_document',
          in: { flow: '@check.true', storage: '@others.storage', guid: 'x' },
        },
        reply: {
          ...reply,
          in: {
            flow: ['@read.flow', '@check.false'],
            connection: '@get.connection',
            value: '@read.document',
          },
        },
      },
    ],
  ])('%s', (_, blocks) => {
    expect(isCacheable(blocks)).toBe(true)
  })
})

describe('a flow that may reply to one caller alone', () => {
  test.each<[string, FlowBlocks]>([
    ['that looks at the user', { ...list, user: { type: 'user_current' }, reply: replying('@user.user') }],
    [
      'that looks at the request',
      { ...list, request: { type: 'httpconnection_current_request' }, reply: replying('@request.headers') },
    ],
    [
      'that searches by the user',
      {
        ...list,
        user: { type: 'user_current' },
        query: { type: 'query_bool_term_fields', in: { field: 'by', value: '@user.signed_in' } },
        find: finding({ query: '@query.query' }),
      },
    ],
    [
      'that decides by a scope, whatever it replies',
      {
        ...list,
        may: { type: 'condition_has_scope', in: { scope: 'x' } },
        check: { type: 'branch', in: { flow: '@find.flow', condition: '@may.condition' } },
        reply: { ...reply, in: { flow: '@check.true', value: 1 } },
      },
    ],
    [
      'that hands headers of the request to another server',
      {
        ...list,
        request: { type: 'httpconnection_current_request' },
        ask: {
          type: 'http_request',
          in: { flow: '@find.flow', url: 'https://example.org', headers: '@request.headers' },
        },
        reply: { ...reply, in: { flow: '@ask.flow', value: '@ask.body' } },
      },
    ],
    [
      'that calls a custom function, which may',
      {
        ...list,
        some: { type: 'trigger_custom_function', fields: { name: 'some' } },
        call: { type: 'function_custom_execute', in: { flow: '@find.flow', function: 'some' } },
      },
    ],
  ])('%s', (_, blocks) => {
    expect(isCallerIndependent(blocks)).toBe(false)
  })
})

describe('a flow that replies the same to every caller', () => {
  test.each<[string, FlowBlocks]>([
    ['a list', list],
    ['that keeps its search for a while', { ...list, find: finding({ cache_key: 'things' }) }],
    [
      'that looks at the clock',
      {
        ...list,
        lately: { type: 'query_bool_range_field', in: { field: '_meta.created', gte: 'now-1d' } },
        find: finding({ query: '@lately.query' }),
      },
    ],
    [
      'that asks another server, goes on after an error and logs it',
      {
        ...list,
        ask: { type: 'http_request', in: { flow: '@find.flow', url: 'https://example.org' } },
        reply: { ...reply, in: { flow: '@ask.flow', value: '@ask.body' } },
        log: { type: 'function_console_log', in: { flow: '@ask.error', value: 'lost' } },
        sorry: { type: 'httpconnection_set_json', in: { flow: '@log.flow', code: 502, value: 'Sorry' } },
      },
    ],
  ])('%s', (_, blocks) => {
    expect(isCallerIndependent(blocks)).toBe(true)
  })
})
