import { expect, test } from 'vitest'
import { describeBlock } from '../../../../blocks/describe-block.ts'
import { findBlocks } from '../../../../blocks/load-blocks.ts'
import type { BlockContent } from '../../../../shared/blueprint.ts'
import { emptyContent } from '../../../../shared/empty-content.ts'
import { catalogueOf } from '../block-description.ts'
import { newContent } from '../changes/flow-changes.ts'
import type { Flow } from '../flow.ts'
import { entrancesOf, openTo } from './open-to.ts'

const catalogue = catalogueOf(
  (await findBlocks()).map(({ definition, group }) => describeBlock(definition, group)),
)
const block = (type: string, pin: string, value: string, scopes: string[]): BlockContent => ({
  ...emptyContent,
  type,
  scopes,
  in_pins: [{ id: pin, value }],
})

const tool = (scopes: string[]): BlockContent => ({
  ...emptyContent,
  type: 'trigger_custom_function',
  fields: { name: 'find order', tool: ' find ' },
  scopes,
})

test.each([
  [[], 'everyone (public)'],
  [['*public', 'staff'], 'everyone (public)'],
  [['*loggedin', 'staff'], 'signed-in users'],
  [['staff', 'sales'], 'users with staff or sales'],
])('%j is open to %s', (scopes, words) => {
  expect(openTo(scopes)).toBe(words)
})

test('every endpoint, page and tool is listed, the public ones first, and nothing that runs by itself', () => {
  const flow: Flow = new Map([
    ['get', block('on_startup_register_uri_get', 'uri', 'tasks', ['*loggedin'])],
    ['page', block('state_page', 'url', '/books', [])],
    ['start', block('state_page', 'url', '', ['staff'])],
    ['event', block('storage_event', 'storage', 'tasks', [])],
    ['function', { ...emptyContent, type: 'trigger_custom_function', fields: { name: 'a', tool: '' } }],
    ['tool', tool([])],
    ['open', tool(['*public'])],
    ['own', tool(['staff'])],
    ['search', block('function_search', 'storage', 'tasks', [])],
  ])
  expect(entrancesOf(flow, catalogue).map(({ name, openTo: words }) => [name, words])).toEqual([
    ['Page /books', 'everyone (public)'],
    ['GET /tasks', 'signed-in users'],
    ['Page /', 'users with staff'],
    ['Tool find', 'no one'],
    ['Tool find', 'signed-in users'],
    ['Tool find', 'users with staff'],
  ])
})

test('what is put on the canvas is for signed-in users if requests reach it', () => {
  const scopesOf = (type: string) => newContent(type, catalogue, { x: 0, y: 0 }).scopes
  for (const type of ['state_page', 'on_startup_register_uri_get', 'on_startup_register_uri_post'])
    expect([type, scopesOf(type)]).toEqual([type, ['*loggedin']])
  for (const type of ['storage_event', 'trigger_custom_function', 'state_h1', 'function_search'])
    expect([type, scopesOf(type)]).toEqual([type, []])
})
