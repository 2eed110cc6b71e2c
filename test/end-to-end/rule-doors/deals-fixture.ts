/** Deals with rules for documents and fields, and a flow or a page for each door that leads to them. */
import type { JsonObject, JsonValue } from '../../../src/shared/json.ts'
import { setFields } from '../../../src/shared/mutation.ts'
import { openAssetPlace } from '../../asset-place.ts'
import { openVisitor, type Visitor } from '../../page-visitor.ts'
import { type Answer, guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../harness.ts'
import type { Role } from './door.ts'

const open = { scopes: ['*public'] }
const asUser = { fields: { as: 'user' } }
const reply = (flow: string, value: JsonValue) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })
const page = (url: string) => ({ type: 'state_page', in: { url }, ...open })
const storage = 'deals'
const create = (flow: string, set: string) => ({
  ...{ type: 'function_create_document_from_mutations', in: { flow, storage, set }, ...asUser },
})
const change = (flow: string, guid: string, set: JsonValue) => ({
  ...{ type: 'function_update_document_mutations', in: { flow, storage, guid, set }, ...asUser },
})
const remove = (flow: string, guid: string) => ({
  ...{ type: 'function_remove_document', in: { flow, storage, guid }, ...asUser },
})

const blocks: JsonObject = {
  resource: {
    type: 'on_startup_register_resource',
    in: { uri: 'deals', storage },
    fields: { orders: ['n'] },
    ...open,
  },
  found: get('found'),
  search: { type: 'function_search', in: { flow: '@found.flow', storage, sort: 'n' }, ...asUser },
  found_reply: reply('@search.flow', '=search.documents'),
  made: post('made'),
  make: create('@made.flow', '=body'),
  made_reply: reply('@make.flow', '=make.document'),
  changed: post('changed/{guid}'),
  do_change: change('@changed.flow', '=params.guid', '=body'),
  changed_reply: reply('@do_change.flow', 'changed'),
  changed_none: { type: 'fail', in: { flow: '@do_change.not_found', status: 404, message: 'none' } },
  gone: post('gone/{guid}'),
  do_remove: remove('@gone.flow', '=params.guid'),
  gone_reply: reply('@do_remove.flow', 'removed'),
  gone_none: { type: 'fail', in: { flow: '@do_remove.not_found', status: 404, message: 'none' } },
  // A table with actions, and a form above it.
  page: page('deals'),
  form: {
    type: 'state_form',
    in: { form_id: 'make', storage, inputs: ['n', 'title', 'owner', 'approved', 'margin'] },
  },
  table: {
    type: 'state_advanced_datatable',
    in: {
      ...{ state: '@form.state', storage, table_id: 't', exportable: true },
      columns: ['title', 'margin', { field: 'scan', kind: 'file' }, { field: 'contract', kind: 'file' }],
      actions: [
        { name: 'name', label: 'Name', for: 'both' },
        { name: 'drop', label: 'Drop', for: 'both' },
      ],
    },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  form_make: create('@form.submit', '=form.values'),
  is_drop: { type: 'branch', in: { flow: '@table.row_action', condition: '=table.action == "drop"' } },
  table_remove: remove('@is_drop.true', '=table.guid'),
  table_change: change('@is_drop.false', '=table.guid', { title: 'changed' }),
  // One deal with a form that changes it, and one that removes it.
  one: page('deals/{guid}'),
  read: {
    ...{ type: 'function_get_document', in: { flow: '@one.flow', storage, guid: '=params.guid' }, ...asUser },
  },
  unread: { type: 'fail', in: { flow: '@read.not_found', status: 404, message: 'There is no such deal.' } },
  edit: {
    type: 'state_form',
    in: { form_id: 'edit', storage, document: '=read.document', inputs: ['title', 'margin'] },
  },
  end: { type: 'state_form', in: { form_id: 'end', state: '@edit.state', storage, inputs: ['title'] } },
  // Who may not change it sees no form, but the deal.
  detail: {
    type: 'state_detail',
    in: { state: '@end.state', document: '=read.document', fields: ['margin'] },
  },
  show_one: { type: 'state_render_page', in: { flow: '@read.flow', state: '@detail.state' } },
  edited: change('@edit.submit', '=params.guid', '={ title: edit.values.title }'),
  ended: remove('@end.submit', '=params.guid'),
}

const manages = ['view', 'create', 'update', 'remove'].map((verb) => `storages_${verb}`)
const lead = 'contains(user.scopes, "deals_all")'
const own = 'doc.owner == user.guid'
const fields = [
  { name: 'n', type: 'number' },
  { name: 'title', type: 'string' },
  { name: 'owner', type: 'string' },
  { name: 'margin', type: 'number', visible_to: lead },
  { name: 'approved', type: 'string', settable_by: lead },
  { name: 'scan', type: 'object' },
  { name: 'contract', type: 'object', visible_to: lead },
]

/** What the margins of all deals are, so that it is found in any text. */
export const MARGIN = 7_654_321
export const documents = '/_system/storages/deals/documents'

export interface DealsFixture {
  readonly quoin: TestQuoin
  readonly origin: string
  /** Guid of the user. */
  user(as: Role): string
  /** Guid of the deal with this number. */
  deal(n: number): string
  send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, as: Role, body?: JsonValue): Promise<Answer>
  visitor(as: Role): Promise<Visitor>
  header(as: Role): Promise<Readonly<Record<string, string>>>
  /** The deals as they are before each test: 1 and 8 of ann, where 8 is locked, 2 of bob, 4 of none. */
  reset(): Promise<void>
  /** All deals, without what no rule is about. */
  state(): Promise<readonly JsonObject[]>
  close(): Promise<void>
}

export async function openDealsFixture(): Promise<DealsFixture> {
  const place = await openAssetPlace()
  const unlimited = { QUOIN_RATE_LIMIT: '0', QUOIN_STREAMS_PER_ADDRESS: '0' }
  const quoin = await openTestQuoin({ ...unlimited, ...place.settings })
  const origin = await quoin.quoin.server.listen()
  const users = new Map<Role, string>()
  for (const name of ['ann', 'bob'] as const) users.set(name, await quoin.addUser(name, manages))
  users.set('lead', await quoin.addUser('lead', [...manages, 'deals_all']))
  const rules = {
    see: `${own} || ${lead}`,
    create: own,
    change: `${own} && doc.locked != true`,
    remove: `${own} && doc.locked != true`,
  }
  await quoin.manage('POST', '/_system/storages', { name: storage, rules })
  for (const field of fields) await quoin.manage('POST', '/blueprintfields', { storage, ...field })
  await quoin.install('Deals', blocks)
  const scans = new Map<string, string>()
  for (const n of [1, 2, 4, 8])
    for (const what of ['scan', 'contract']) scans.set(`${what} ${n}`, await upload(`${what} ${n}.txt`))
  const deals = new Map<number, string>()

  /** As if a form of a page had sent it. */
  async function upload(name: string): Promise<string> {
    const body = new FormData()
    body.append('directory', 'page_uploads')
    body.append('file', new File([name], name, { type: 'text/plain' }))
    const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}` }
    const address = `${origin}/api/v1/_system/assets/stream`
    return guidOf(await (await fetch(address, { method: 'POST', headers, body })).json())
  }

  const file = (what: string, n: number) => ({
    ...{ guid: scans.get(`${what} ${n}`) ?? '', name: `${what} ${n}.txt`, type: 'text/plain', size: 6 },
  })

  async function reset(): Promise<void> {
    const session = quoin.quoin.database.session()
    for (const one of await quoin.documents(storage)) await session.delete(storage, guidOf(one))
    for (const n of [1, 2, 4, 8]) {
      const owner = { 1: users.get('ann'), 2: users.get('bob'), 4: 'none', 8: users.get('ann') }[n] ?? ''
      const title = `deal ${n}`
      const input = { n, title, owner, margin: MARGIN, scan: file('scan', n), contract: file('contract', n) }
      const made = await session.create(storage, setFields({ ...input, ...(n === 8 && { locked: true }) }))
      deals.set(n, guidOf(made.value))
    }
    await session.transaction.commit()
  }

  return {
    ...{ quoin, origin, reset },
    async close() {
      await quoin.close()
      await place.close()
    },
    user: (as) => users.get(as) ?? as,
    deal: (n) => deals.get(n) ?? '',
    send: (method, path, as, body) =>
      quoin.send(method, path, { ...(as && { as }), ...(body !== undefined && { body }) }),
    async visitor(as) {
      const one = openVisitor(origin)
      if (as) one.setCookie('access_token', await quoin.tokenOf(as))
      return one
    },
    header: async (as) => (as === '' ? {} : { authorization: `Bearer ${await quoin.tokenOf(as)}` }),
    async state() {
      const all = objectsOf(await quoin.documents(storage))
      return all.map(({ n = null, title = null, owner = null, approved = null }) => ({
        n,
        title,
        owner,
        approved,
      }))
    },
  }
}
