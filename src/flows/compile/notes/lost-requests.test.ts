import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FlowBlocks, type FlowFixture, openFlowFixture } from '../../../../test/run-flow.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await openFlowFixture()
})
afterAll(() => fixture.close())

const store = { type: 'storage', fields: { storage: 'goods' } }
const create = (flow: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: '@store.storage', set: '={ a: 1 }' },
})
const log = (flow: string) => ({ type: 'function_console_log', in: { flow, value: 'x' } })

describe('a request that could not be sent again', () => {
  const taking = (name: string) => ({
    type: 'on_startup_register_uri_post',
    in: { uri: 'a' },
    scopes: ['*loggedin'],
    fields: {
      schema: [
        { name, type: 'text' },
        { name: 'title', type: 'text' },
      ],
    },
  })
  const notes = (blocks: FlowBlocks) =>
    (fixture.compile({ store, ...blocks }).blueprint?.notes ?? [])
      .map(({ message }) => message)
      .filter((message) => message.includes('sent again'))
  const replied = {
    get: taking('password'),
    reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 1 } },
  }

  test('is told where the flow works on behind its reply', () => {
    const [note] = notes({ ...replied, after: create('@reply.flow') })
    expect(note).toContain('because password is not stored. Put the work into a queue')
  })

  test.each<[string, FlowBlocks]>([
    ['nothing is behind the reply', replied],
    ['only a log is behind the reply', { ...replied, after: log('@reply.flow') }],
    ['no field is secret', { ...replied, get: taking('colour'), after: create('@reply.flow') }],
    ['a signature is stored', { ...replied, get: taking('signature'), after: create('@reply.flow') }],
  ])('is not told where %s', (_what, blocks) => {
    expect(notes(blocks)).toEqual([])
  })
})
