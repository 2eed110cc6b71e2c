import { beforeAll, expect, test } from 'vitest'
import type { FlowBlocks } from '../../../../test/run-flow.ts'
import type { BlockDefinition } from '../../../blocks/block.ts'
import { loadBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../blueprints/blueprint-file.ts'
import { compileInTurns } from '../compile-blueprint.ts'

let catalogue: ReadonlyMap<string, BlockDefinition>
beforeAll(async () => {
  catalogue = await loadBlocks()
})

const get = { type: 'on_startup_register_uri_get', in: { uri: 'ask' }, scopes: ['*loggedin'] }
const wait = { type: 'wait', in: { flow: '@get.flow', for: '1d' } }
const creates = (set: string, flow = '@wait.flow') => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage: 'docs', set },
})
const to = { type: 'httpconnection_get_params', in: { connection: '@get.connection', field: 'to' } }

const says = (what: string) => expect.stringContaining(`A block behind a wait ${what}`)

test.each<[string, FlowBlocks, readonly unknown[]]>([
  ['a reply', { reply: { type: 'reply', in: { flow: '@wait.flow' } } }, [['reply', says('replies')]]],
  ['the connection', { to, after: creates('={ to: to.value }') }, [['wait', says('reads the request')]]],
  ['headers', { after: creates('={ to: headers.host }') }, [['wait', says('reads headers or request')]]],
  [
    'a reply that requests reach without waiting too',
    {
      other: { type: 'on_startup_register_uri_get', in: { uri: 'other' }, scopes: ['*loggedin'] },
      reply: { type: 'reply', in: { flow: ['@wait.flow', '@other.flow'] } },
    },
    [],
  ],
  ['a reply at now', { reply: { type: 'reply', in: { flow: '@wait.now' } } }, []],
  ['parameters and the user', { after: creates('={ to: params.to, by: user.username }') }, []],
  ['the connection before the wait', { to, before: creates('={ to: to.value }', '@get.flow') }, []],
])('behind a wait: %s', async (_what, blocks, notes) => {
  const file = { name: 'Test', blocks: { get, wait, ...blocks } }
  const ids = Object.keys(file.blocks)
  const { blocks: read } = importBlueprint(file, () => ids.shift() ?? '')
  const { blueprint, problems } = await compileInTurns('blueprint', read, catalogue)
  expect(problems).toEqual([])
  expect(blueprint?.notes.map(({ block, message }) => [block, message])).toEqual(notes)
})
