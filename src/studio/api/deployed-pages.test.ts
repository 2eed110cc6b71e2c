import { expect, test } from 'vitest'
import type { DeployAction } from '../../shared/api/blueprints/blueprints.ts'
import type { BlockContent } from '../../shared/blueprint.ts'
import { deployedPages, type PlacedPage } from './deployed-pages.ts'

const saved: readonly PlacedPage[] = [
  { block: 'list', path: '/goods', isPublic: true },
  { block: 'form', path: '/goods/new', isPublic: false },
]

function block(type: string, url: string, scopes: readonly string[] = []): BlockContent {
  return {
    type,
    name: type,
    title: '',
    description: '',
    fields: {},
    in_pins: [{ id: 'url', value: url }],
    custom_out_pins: [],
    scopes: [...scopes],
    position: { x: 0, y: 0 },
  }
}

function action(guid: string, before: BlockContent | null, after: BlockContent | null): DeployAction {
  const change = before ? (after ? 'updated' : 'removed') : 'created'
  return { guid, type: (before ?? after)?.type ?? '', change, before, after }
}

test.each<[string, readonly DeployAction[], readonly string[]]>([
  ['nothing waits', [], ['list /goods everyone', 'form /goods/new']],
  [
    'an address and its access were changed',
    [action('list', block('state_page', 'old', ['staff']), block('state_page', 'goods'))],
    ['form /goods/new', 'list /old'],
  ],
  ['a page was added', [action('form', null, block('state_page', 'goods/new'))], ['list /goods everyone']],
  [
    'a page was removed, and is still there for visitors',
    [action('gone', block('state_page', 'gone'), null)],
    ['list /goods everyone', 'form /goods/new', 'gone /gone everyone'],
  ],
  [
    'another kind of block was changed',
    [action('get', block('on_startup_register_uri_get', 'goods'), null)],
    ['list /goods everyone', 'form /goods/new'],
  ],
])('%s', (_title, pending, expected) => {
  const pages = deployedPages(saved, pending)
  expect(pages.map(({ block, path, isPublic }) => `${block} ${path}${isPublic ? ' everyone' : ''}`)).toEqual(
    expected,
  )
})
