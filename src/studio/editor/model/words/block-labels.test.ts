import { expect, test } from 'vitest'
import booking from '../../../../../examples/booking/blueprints/booking.json' with { type: 'json' }
import contacts from '../../../../../examples/crm/blueprints/contacts.json' with { type: 'json' }
import customers from '../../../../../examples/crm/blueprints/customers.json' with { type: 'json' }
import deals from '../../../../../examples/crm/blueprints/deals.json' with { type: 'json' }
import inventory from '../../../../../examples/inventory/blueprints/inventory.json' with { type: 'json' }
import tasks from '../../../../../examples/tasks/blueprints/tasks.json' with { type: 'json' }
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import { importBlueprint } from '../../../../flows/blueprints/blueprint-file.ts'
import type { JsonObject } from '../../../../shared/json.ts'
import { catalogueOf } from '../block-description.ts'
import type { Flow } from '../flow.ts'
import { wordsOf } from './block-labels.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)

function flowOf(blocks: JsonObject): Flow {
  const ids = Object.keys(blocks)
  let next = 0
  const imported = importBlueprint({ name: 'test', blocks }, () => ids[next++] ?? '')
  return new Map(imported.blocks.map(({ guid, ...content }) => [guid, content]))
}

const flow = flowOf({
  page: { type: 'state_page', in: { url: '/books' } },
  bare: { type: 'state_page' },
  named: { type: 'state_page', title: 'Our books', in: { url: 'books' } },
  author: { type: 'query_bool_term_fields', in: { field: 'author', value: '=params.author' } },
  store: { type: 'storage', fields: { storage: 'books' } },
  search: {
    type: 'function_search',
    in: { flow: '@page.flow', storage: '@store.storage', query: '@author.query' },
  },
  sorted: { type: 'function_search', in: { storage: 'books', sort: 'name' } },
  create: { type: 'function_create_document_from_mutations', in: { storage: 'books', set: '=body' } },
  reply: { type: 'httpconnection_set_json', in: { code: 201, value: '@create.document' } },
  nightly: { type: 'schedule_repeating_event', in: { every: '5m' } },
  never: { type: 'schedule_repeating_event' },
  watch: { type: 'storage_event', in: { storage: 'books', events: ['on_created', 'on_updated'] } },
  failed: { type: 'failure_event', in: { events: ['on_run_failed'] } },
  join: { type: 'value_join', in: { values: ['a', 'b'], separator: '-' } },
  unknown: { type: 'gone_block' },
  tabs: { type: 'state_tabs' },
  tabs_2: { type: 'state_tabs' },
  a: { type: 'value_default', in: { value: '@b.value' } },
  b: { type: 'value_default', in: { value: '@a.value' } },
  links: {
    type: 'state_navigation',
    in: {
      links: [
        { label: 'Home', href: '/' },
        { label: 'Tasks', href: '/tasks' },
      ],
    },
  },
  unlabelled: { type: 'state_navigation', in: { links: [{ href: '/' }] } },
  long: { type: 'state_text', in: { text: 'x'.repeat(500) } },
})

test.each([
  ['page', 'Page /books', 'Page · page'],
  ['bare', 'Page', 'Page · bare'],
  ['named', 'Our books', 'Page · named'],
  ['author', 'author is params.author', 'Field is · author'],
  ['store', 'books', 'Storage · store'],
  ['search', 'Search books where author is params.author', 'Search documents · search'],
  ['sorted', 'Search books by name', 'Search documents · sorted'],
  ['create', 'Create in books from body', 'Create document · create'],
  ['reply', 'Reply 201 create.document', 'Reply with JSON · reply'],
  ['nightly', 'Every 5m', 'Schedule · nightly'],
  ['never', 'Schedule', 'Schedule · never'],
  ['watch', 'books: document created, changed', 'Storage event · watch'],
  ['failed', 'Failure: run failed', 'Failure · failed'],
  ['join', 'Join texts: a, b, -', 'Join texts · join'],
  ['unknown', 'gone_block', 'gone_block · unknown'],
  ['links', 'Navigation: Home, Tasks', 'Navigation · links'],
  ['unlabelled', 'Navigation: [{"href":"/"}]', 'Navigation · unlabelled'],
  ['tabs', 'Tabs (tabs)', 'Tabs · tabs'],
  ['tabs_2', 'Tabs (tabs_2)', 'Tabs · tabs_2'],
])('%s is told as %j', (guid, title, kind) => {
  expect(wordsOf(flow, catalogue, guid)).toMatchObject({ title, kind })
})

test('blocks that are wired in a circle, and long values, have short titles', () => {
  for (const guid of ['a', 'b', 'long']) expect(wordsOf(flow, catalogue, guid).title.length).toBeLessThan(60)
  expect(wordsOf(flow, catalogue, 'nothing there')).toEqual({ title: '', kind: '', name: '' })
})

test.each([tasks, booking, inventory, contacts, customers, deals])(
  'no two blocks of $name have the same title',
  ({ blocks }) => {
    const drawn = flowOf(JSON.parse(JSON.stringify(blocks)))
    const titles = [...drawn.keys()].map((guid) => wordsOf(drawn, catalogue, guid).title)
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([])
    expect(titles.filter((title) => title.includes('{') && title.includes('|'))).toEqual([])
  },
)
