import { expect, test } from 'vitest'
import type { BlueprintFile } from '../../../../shared/application/blueprint-file.ts'
import { blueprintOfFile } from '../../../../shared/application/blueprint-file.ts'
import { apiFile } from '../api-file.ts'
import { pagesFile } from '../pages-file.ts'
import { type Access, scopesOf, usualAccess } from './application-access.ts'
import { changesFor, type TriggerBlock, triggersOf } from './application-triggers.ts'

const storage = 'contracts'
const groups: Access = { readers: 'groups', readerGroups: ['g'], writers: 'groups', writerGroups: ['g'] }
const narrow = scopesOf(storage, groups)

function blocksOf(file: BlueprintFile): readonly TriggerBlock[] {
  let made = 0
  const { blocks } = blueprintOfFile(file, () => `guid-${made++}`)
  return blocks.map(({ guid, ...block }) => ({
    ...block,
    blueprint_guid: 'b',
    _meta: { guid, update_hash: 'h' },
  }))
}

const pages = blocksOf(pagesFile({ storage, uri: storage, access: usualAccess, names: new Map() }, []))
const api = blocksOf(
  apiFile({ storage, uri: storage, operations: ['list'], filters: [], orders: [], access: usualAccess }, []),
)

test('made pages: the list and one document read, and both forms write', () => {
  expect(triggersOf(pages, storage).map(({ path, writes }) => [path, writes])).toEqual([
    ['/contracts', false],
    ['/contracts/new', true],
    ['/contracts/{guid}/view', false],
    ['/contracts/{guid}/edit', true],
  ])
  expect(triggersOf(pages, 'customers')).toEqual([])
})

test('a page whose button removes documents writes, whatever its blocks are called', () => {
  const own = blocksOf({
    name: 'Own',
    description: '',
    blocks: {
      list: { type: 'state_page', in: { url: 'own' } },
      table: { type: 'state_advanced_datatable', in: { storage, columns: ['a'], actions: ['drop'] } },
      show: { type: 'state_render_page', in: { flow: '@list.flow', state: '@table.state' } },
      gone: { type: 'function_remove_document', in: { flow: '@table.action', storage, guid: '=table.guid' } },
      call: { type: 'on_startup_register_uri_post', in: { uri: 'other' } },
      reply: { type: 'httpconnection_set_json', in: { flow: '@call.flow' } },
    },
    layout: {},
  })
  expect(triggersOf(own, storage).map(({ path, writes }) => [path, writes])).toEqual([['/own', true]])
})

test('one choice changes all pages and the API, and says which become narrower', () => {
  const triggers = [...triggersOf(pages, storage), ...triggersOf(api, storage)]
  const changes = changesFor(triggers, narrow)
  expect(changes.map(({ trigger, change, content }) => [trigger.path, change, content.scopes])).toEqual([
    ['/contracts', 'narrower', ['contracts_read', 'contracts_write']],
    ['/contracts/new', 'narrower', ['contracts_write']],
    ['/contracts/{guid}/view', 'narrower', ['contracts_read', 'contracts_write']],
    ['/contracts/{guid}/edit', 'narrower', ['contracts_write']],
    ['/api/v1/contracts', 'narrower', ['contracts_read', 'contracts_write']],
  ])
  expect(changes.at(-1)?.content.fields).toMatchObject({
    operations: ['list'],
    write_scopes: ['contracts_write'],
  })
  expect(changesFor(triggers, scopesOf(storage, usualAccess))).toEqual([])
})

test('what becomes wider for those who read or those who write is called wider', () => {
  const closed = [...api].map((block) => ({ ...block, scopes: ['secret'] }))
  const [change] = changesFor(triggersOf(closed, storage), scopesOf(storage, usualAccess))
  expect(change).toMatchObject({ change: 'wider', content: { scopes: ['*loggedin'] } })
  expect(change?.content.fields).not.toHaveProperty('write_scopes')
})
