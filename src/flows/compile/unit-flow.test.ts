import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

function unitOf(blocks: FlowBlocks): string | undefined {
  const { blueprint, problems } = fixture.compile(blocks)
  expect(problems).toEqual([])
  return (blueprint?.endpoints[0] ?? blueprint?.pages[0])?.flow.unit
}

const post = { post: { type: 'on_startup_register_uri_post', in: { uri: 'test' } } }
const block = (type: string, flow: string, pins: object = {}) => ({ type, in: { flow, ...pins } })
const find = (flow: string) => block('function_search', flow, { storage: 'things' })
const get = (flow: string) => block('function_get_document', flow, { storage: 'things', guid: 'x' })
const create = (flow: string) =>
  block('function_create_document_from_mutations', flow, { storage: 'things', set: '={ n: 1 }' })
const update = (flow: string) =>
  block('function_update_document_mutations', flow, { storage: 'things', guid: 'x', set: '={ n: 1 }' })
const reply = (flow: string) => block('httpconnection_set_json', flow, { value: 1 })
const call = (flow: string, name: string) => block('function_custom_execute', flow, { function: name })
const http = (flow: string) => block('http_request', flow, { url: 'http://localhost' })
const fn = (name: string) => ({ type: 'trigger_custom_function', fields: { name } })
const each = (flow: string) => ({ type: 'each', in: { flow, list: '=[1, 2]' } })

describe('a flow in which no block that writes follows one that reads is no unit', () => {
  test.each<[string, FlowBlocks]>([
    ['it reads only', { ...post, find: find('@post.flow'), reply: reply('@find.flow') }],
    ['it writes only', { ...post, create: create('@post.flow'), update: update('@create.flow') }],
    ['it reads what it has written', { ...post, create: create('@post.flow'), find: find('@create.flow') }],
    ['they are in two branches', { ...post, find: find('@post.flow'), create: create('@post.flow') }],
    [
      'it touches the world outside between',
      { ...post, find: find('@post.flow'), http: http('@find.flow'), create: create('@http.flow') },
    ],
    [
      'a walk is at no one moment',
      {
        ...post,
        walk: { type: 'each', in: { flow: '@post.flow', storage: 'things' } },
        create: create('@walk.each'),
      },
    ],
    [
      'its functions only read',
      {
        ...post,
        f: fn('f'),
        found: find('@f.flow'),
        call: call('@post.flow', 'f'),
        reply: reply('@call.flow'),
      },
    ],
    [
      'an update that changed something has not read',
      { ...post, u: update('@post.flow'), c: create('@u.flow') },
    ],
  ])('%s', (_, blocks) => {
    expect(unitOf(blocks)).toBeUndefined()
  })
})

describe('a flow in which a block that writes follows one that reads is a unit', () => {
  test.each<[string, FlowBlocks]>([
    ['search, then create', { ...post, find: find('@post.flow'), create: create('@find.flow') }],
    ['get, then update', { ...post, get: get('@post.flow'), update: update('@get.flow') }],
    ['none found, then create', { ...post, get: get('@post.flow'), create: create('@get.not_found') }],
    ['nothing changed, then create', { ...post, u: update('@post.flow'), c: create('@u.not_found') }],
    [
      'with blocks between',
      { ...post, find: find('@post.flow'), reply: reply('@find.flow'), create: create('@reply.flow') },
    ],
    [
      'again behind the world outside',
      {
        ...post,
        ...{ find: find('@post.flow'), http: http('@find.flow'), get: get('@http.flow') },
        create: create('@get.flow'),
      },
    ],
    [
      'in the second pass of a loop',
      { ...post, each: each('@post.flow'), create: create('@each.each'), find: find('@create.flow') },
    ],
    [
      'its function does',
      { ...post, f: fn('f'), g: get('@f.flow'), c: create('@g.flow'), r: call('@post.flow', 'f') },
    ],
    [
      'its function reads, and it writes',
      { ...post, f: fn('f'), g: get('@f.flow'), r: call('@post.flow', 'f'), c: create('@r.flow') },
    ],
    ['a function of another blueprint may', { ...post, r: call('@post.flow', 'elsewhere') }],
    [
      'a function that calls itself may',
      { ...post, f: fn('f'), again: call('@f.flow', 'f'), r: call('@post.flow', 'f') },
    ],
  ])('%s', (_, blocks) => {
    expect(unitOf(blocks)).toBe('always')
  })
})

describe('a page', () => {
  const page = { page: { type: 'state_page', in: { url: 'things', title: 'Things' } } }
  const button = { button: { type: 'state_button', in: { label: 'Go', kind: 'action' } } }
  const show = (flow: string) => block('state_render_page', flow, { state: '@button.state' })

  test.each<[string, string | undefined, FlowBlocks]>([
    [
      'whose event writes without reading',
      undefined,
      { ...page, ...button, show: show('@page.flow'), c: create('@button.click') },
    ],
    [
      'that reads, and whose event writes',
      'when_sent',
      { ...page, ...button, g: get('@page.flow'), show: show('@g.flow'), c: create('@button.click') },
    ],
    [
      'whose event reads and writes',
      'when_sent',
      { ...page, ...button, show: show('@page.flow'), g: get('@button.click'), c: create('@g.flow') },
    ],
    [
      'that writes when it is shown',
      'always',
      { ...page, ...button, g: get('@page.flow'), c: create('@g.flow'), show: show('@c.flow') },
    ],
  ])('%s: %s', (_, expected, blocks) => {
    expect(unitOf(blocks)).toBe(expected)
  })
})
