import { beforeAll, expect, test } from 'vitest'
import type { FlowBlocks } from '../../../../test/run-flow.ts'
import type { BlockDefinition } from '../../../blocks/block.ts'
import { loadBlocks } from '../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../blueprints/blueprint-file.ts'
import { compileCooperatively } from '../compile-blueprint.ts'

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
  expect(await notesOf({ get, wait, ...blocks })).toEqual(notes)
})

const approval = (more: object = {}) => ({
  type: 'wait_for_approval',
  in: { flow: '@get.flow', title: 'Order', ...more },
})
const undecidable = [['wait', expect.stringContaining('No one could decide')]]

test.each<[string, FlowBlocks, readonly unknown[]]>([
  ['no scope, and no link', { wait: approval() }, undecidable],
  ['an empty list of scopes', { wait: approval({ scopes: [] }) }, undecidable],
  ['a scope', { wait: approval({ scopes: ['*loggedin'] }) }, []],
  ['scopes that the run knows', { wait: approval({ scopes: '=split(params.who, ",")' }) }, []],
  ['the link', { wait: approval(), tell: creates('={ link: wait.link }', '@wait.now') }, []],
])('approvals that no one could give: %s', async (_what, blocks, notes) => {
  expect(await notesOf({ get, ...blocks })).toEqual(notes)
})

async function notesOf(blocks: FlowBlocks): Promise<readonly unknown[]> {
  const file = { name: 'Test', blocks }
  const ids = Object.keys(file.blocks)
  const { blocks: read } = importBlueprint(file, () => ids.shift() ?? '')
  const { blueprint, problems } = await compileCooperatively('blueprint', read, catalogue)
  expect(problems).toEqual([])
  return blueprint?.notes.map(({ block, message }) => [block, message]) ?? []
}
