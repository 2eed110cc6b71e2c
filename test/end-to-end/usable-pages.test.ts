/** Links, buttons, forms and row actions that a visitor could only be refused: on pages as Make pages makes them, for each role. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setFields } from '../../src/shared/mutation.ts'
import { openVisitor } from '../page-visitor.ts'
import { guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

let fixture: TestQuoin
let origin: string
let storage: string
const deals = new Map<string, string>()
const asUser = { as: 'user' }
const guid = '=params.guid'

beforeAll(async () => {
  fixture = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  origin = await fixture.quoin.server.listen()
  await fixture.addUser('reader', ['deals_read'])
  await fixture.addUser('writer', ['deals_read', 'deals_write'])
  storage = guidOf(await fixture.manage('POST', '/_system/storages', { name: 'deals' }))
  await fixture.manage('POST', '/blueprintfields', { storage: 'deals', name: 'title', type: 'string' })
  const read = ['deals_read', 'deals_write']
  const write = ['deals_write']
  await fixture.install('Deals', {
    list: { type: 'state_page', in: { url: 'deals', title: 'All deals' }, scopes: ['*public'] },
    menu: {
      type: 'state_navigation',
      in: {
        links: [
          { label: 'To deals', href: '/deals' },
          { label: 'To new', href: '/deals/new' },
          { label: 'To profile', href: '/deals/profile' },
          { label: 'To elsewhere', href: 'https://example.com/deals/new' },
        ],
      },
    },
    list_new: {
      type: 'state_button',
      in: { state: '@menu.state', label: 'Add one', kind: 'link', url: '/deals/new' },
    },
    card: {
      type: 'state_card',
      in: { state: '@list_new.state', title: 'Card of new', url: '/deals/new' },
    },
    list_table: {
      type: 'state_advanced_datatable',
      in: {
        state: '@card.state',
        storage: 'deals',
        columns: ['title'],
        row_link: '/deals/{_meta.guid}/view',
        actions: [{ name: 'drop', label: 'Drop it', for: 'both' }],
      },
    },
    list_shown: { type: 'state_render_page', in: { flow: '@list.flow', state: '@list_table.state' } },
    dropped: {
      type: 'function_remove_document',
      in: { flow: '@list_table.row_action', storage: 'deals', guid: '=list_table.guid' },
      fields: asUser,
    },
    add: { type: 'state_page', in: { url: 'deals/new', title: 'A new deal' }, scopes: write },
    add_form: { type: 'state_form', in: { form_id: 'new', storage: 'deals', inputs: ['title'] } },
    add_shown: { type: 'state_render_page', in: { flow: '@add.flow', state: '@add_form.state' } },
    create: {
      type: 'function_create_document_from_mutations',
      in: { flow: '@add_form.submit', storage: 'deals', set: '=add_form.values' },
      fields: asUser,
    },
    profile: { type: 'state_page', in: { url: 'deals/profile', title: 'Profile' }, scopes: ['*loggedin'] },
    profile_shown: { type: 'state_render_page', in: { flow: '@profile.flow' } },
    view: { type: 'state_page', in: { url: 'deals/{guid}/view' }, scopes: read },
    viewed: {
      type: 'function_get_document',
      in: { flow: '@view.flow', storage: 'deals', guid },
      fields: asUser,
    },
    view_edit: { type: 'state_button', in: { label: 'Edit it', kind: 'link', url: 'edit' } },
    view_shown: { type: 'state_render_page', in: { flow: '@viewed.flow', state: '@view_edit.state' } },
    edit: { type: 'state_page', in: { url: 'deals/{guid}/edit' }, scopes: write },
    edited: {
      type: 'function_get_document',
      in: { flow: '@edit.flow', storage: 'deals', guid },
      fields: asUser,
    },
    edit_form: {
      type: 'state_form',
      in: { form_id: 'edit', storage: 'deals', document: '@edited.document', inputs: ['title'] },
    },
    edit_remove: {
      type: 'state_button',
      in: { state: '@edit_form.state', label: 'Remove it', kind: 'action', tone: 'danger' },
    },
    edit_shown: { type: 'state_render_page', in: { flow: '@edited.flow', state: '@edit_remove.state' } },
    save: {
      type: 'function_update_document_mutations',
      in: { flow: '@edit_form.submit', storage: 'deals', guid, set: '=edit_form.values' },
      fields: asUser,
    },
    remove: {
      type: 'function_remove_document',
      in: { flow: '@edit_remove.click', storage: 'deals', guid },
      fields: asUser,
    },
  })
  const session = fixture.quoin.database.session()
  for (const owner of ['writer', 'reader']) {
    const fields = setFields({ title: `deal of ${owner}`, owner })
    deals.set(owner, guidOf((await session.create('deals', fields)).value))
  }
  await session.transaction.commit()
})
afterAll(() => fixture?.close())

const marks = ['To deals', 'To new', 'To profile', 'To elsewhere', 'Add one', 'Edit it', 'Remove it']

async function open(username: string, path: string) {
  const visitor = openVisitor(origin)
  if (username) visitor.setCookie('access_token', await fixture.tokenOf(username))
  return visitor.get(path)
}

/** Which of the links, buttons and forms are there; `rows` that lead somewhere, and how many of them have an action. */
async function offered(username: string, path: string) {
  const { html } = await open(username, path)
  const found = marks.filter((mark) => html.includes(`>${mark}<`))
  if (html.includes('name="_form" value="edit"')) found.push('Form')
  const rows = [...html.matchAll(/href="[^"]*\/deals\/[^"]+\/view"/g)].length
  const actions = [...html.matchAll(/<button[^>]*value="drop [^"]+"/g)].length
  const picks = [...html.matchAll(/<input[^>]*class="pick"/g)].length
  return { found, card: /href="\/deals\/new"[^>]*>Card of new/.test(html), rows, actions, picks }
}

const rules = (input: Readonly<Record<string, string>>) =>
  fixture.manage('PUT', `/_system/storages/${storage}`, { rules: input })
const viewOf = (owner: string) => `/deals/${deals.get(owner)}/view`
const editOf = (owner: string) => `/deals/${deals.get(owner)}/edit`

describe('by scopes of pages', () => {
  test.each([
    ['', ['To deals', 'To profile', 'To elsewhere'], false, 0],
    ['reader', ['To deals', 'To profile', 'To elsewhere'], false, 2],
    ['writer', ['To deals', 'To new', 'To profile', 'To elsewhere', 'Add one'], true, 2],
    ['admin', ['To deals', 'To new', 'To profile', 'To elsewhere', 'Add one'], true, 2],
  ])('%j is offered what is open to that user', async (username, found, card, rows) => {
    expect(await offered(username, '/deals')).toEqual({ found, card, rows, actions: 2, picks: 2 })
  })

  test('the page of a document has no Edit for a reader', async () => {
    expect((await offered('reader', viewOf('reader'))).found).toEqual([])
    for (const username of ['writer', 'admin'])
      expect((await offered(username, viewOf('reader'))).found).toEqual(['Edit it'])
  })
})

describe('by permissions of the storage', () => {
  const boss = 'contains(user.scopes, "boss")'

  test('a rule that asks the user alone takes New, Edit and actions from lists and pages', async () => {
    await rules({ create: boss, change: boss, remove: boss })
    expect(await offered('writer', '/deals')).toEqual({
      found: ['To deals', 'To profile', 'To elsewhere'],
      card: false,
      rows: 2,
      actions: 0,
      picks: 0,
    })
    expect((await offered('writer', viewOf('writer'))).found).toEqual([])
    expect((await offered('writer', editOf('writer'))).found).toEqual([])
    const { html } = await open('writer', '/')
    expect([html.includes('All deals'), html.includes('A new deal')]).toEqual([true, false])
    const all = await offered('admin', '/deals')
    expect([all.found, all.actions]).toEqual([
      ['To deals', 'To new', 'To profile', 'To elsewhere', 'Add one'],
      2,
    ])
  })

  test('a rule over the document decides for each document', async () => {
    await rules({ change: 'doc.owner == user.username', remove: 'doc.owner == user.username' })
    const list = await offered('writer', '/deals')
    expect([list.found.includes('Add one'), list.actions, list.picks]).toEqual([true, 1, 1])
    expect((await offered('writer', viewOf('writer'))).found).toEqual(['Edit it'])
    expect((await offered('writer', viewOf('reader'))).found).toEqual([])
    expect((await offered('writer', editOf('writer'))).found).toEqual(['Remove it', 'Form'])
    expect((await offered('writer', editOf('reader'))).found).toEqual([])
  })

  test('what may be changed but not removed has Edit without Remove', async () => {
    await rules({ remove: boss })
    expect((await offered('writer', viewOf('reader'))).found).toEqual(['Edit it'])
    expect((await offered('writer', editOf('reader'))).found).toEqual(['Form'])
  })

  test('what is not offered is refused when it is sent anyway', async () => {
    await rules({})
    const visitor = openVisitor(origin)
    visitor.setCookie('access_token', await fixture.tokenOf('writer'))
    const page = await visitor.get(editOf('reader'))
    await rules({ change: boss })
    const reply = await visitor.submit(page, 'edit', { title: 'changed' })
    expect(reply.status).toBe(422)
    expect(reply.text).toContain('You may not change this document')
    const titles = (await fixture.documents('deals')).map(({ title }) => title)
    expect(titles.sort()).toEqual(['deal of reader', 'deal of writer'])
  })
})
