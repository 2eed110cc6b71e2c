/** Goods whose rules lead to their suppliers and the regions of these, with a flow for each way to read and write them. */
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { setFields } from '../../src/shared/mutation.ts'
import { openVisitor, type Visitor } from '../page-visitor.ts'
import { type Answer, guidOf, openTestQuoin, type TestQuoin } from './harness.ts'

const open = { scopes: ['*public'] }
const asUser = { fields: { as: 'user' } }
const reply = (flow: string, value: JsonValue) => ({ type: 'httpconnection_set_json', in: { flow, value } })
const get = (uri: string) => ({ type: 'on_startup_register_uri_get', in: { uri }, ...open })
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })

const blocks: JsonObject = {
  goods: {
    type: 'on_startup_register_resource',
    in: { uri: 'goods', storage: 'goods' },
    fields: { orders: ['n'] },
    ...open,
  },
  found: get('found'),
  search: {
    type: 'function_search',
    in: { flow: '@found.flow', storage: 'goods', sort: 'n', cache_key: 'goods' },
    ...asUser,
  },
  found_reply: reply('@search.flow', '=map(search.documents, one => one.n)'),
  mine: get('mine'),
  search_mine: {
    type: 'function_search',
    in: { flow: '@mine.flow', storage: 'goods', sort: 'n' },
    ...asUser,
  },
  mine_reply: reply('@search_mine.flow', '=map(search_mine.documents, one => one.n)'),
  sum: get('sum'),
  aggregate: {
    type: 'function_aggregate',
    in: { flow: '@sum.flow', storage: 'goods', values: [{ sum: 'n', as: 'sum' }] },
    ...asUser,
  },
  sum_reply: reply('@aggregate.flow', '=aggregate.rows[0].sum'),
  walk: get('walk'),
  each: { type: 'each', in: { flow: '@walk.flow', storage: 'goods', where: '=doc.n > 0' }, ...asUser },
  walk_reply: reply('@each.flow', '=each.count'),
  // Reached through goods, with the rules of goods inside: references of references.
  notes: get('notes'),
  find_notes: {
    type: 'function_search',
    in: { flow: '@notes.flow', storage: 'notes', where: '=doc.good.n > 0', sort: 'n', expand: ['good'] },
    ...asUser,
  },
  notes_reply: reply('@find_notes.flow', '=map(find_notes.documents, one => one.n)'),
  upsert: post('upsert'),
  put: {
    type: 'function_upsert_document',
    in: { flow: '@upsert.flow', storage: 'goods', by: ['code'], set: '=body' },
    ...asUser,
  },
  put_reply: reply('@put.flow', '=put.created'),
  put_taken: reply('@put.conflict', 'taken'),
  many: post('many'),
  change_many: {
    type: 'function_update_many',
    in: { flow: '@many.flow', storage: 'goods', where: '=doc.n > 0', set: { touched: true } },
    ...asUser,
  },
  many_reply: reply('@change_many.flow', '=change_many.count'),
  page: { type: 'state_page', in: { url: 'goods' }, ...open },
  table: {
    type: 'state_advanced_datatable',
    in: {
      storage: 'goods',
      table_id: 't',
      exportable: true,
      columns: ['title'],
      actions: [{ name: 'take', label: 'Take', for: 'both' }],
    },
  },
  show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
  taken: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@table.row_action', storage: 'taken', set: '={ guids: table.guids }' },
  },
}

const scopes = ['view', 'create', 'update', 'remove'].map((verb) => `storages_${verb}`)
export const own = 'doc.supplier.owner == user.guid'
export const rules = {
  see: `${own} || doc.supplier.region.lead == user.guid`,
  create: own,
  change: `${own} && doc.locked != true`,
  remove: `${own} && doc.supplier.active == true`,
}
export const documents = '/_system/storages/goods/documents'

export type Role = 'ann' | 'bob' | 'lead' | 'admin' | ''
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface GoodsFixture {
  readonly quoin: TestQuoin
  readonly origin: string
  /** Guid of the storage of the goods. */
  readonly goods: string
  readonly user: Readonly<Record<'ann' | 'bob' | 'lead', string>>
  /** Guid of a document by its name here: `good 1`, `ann’s`, `north`. */
  guid(name: string): string
  send(method: Method, path: string, as: Role, body?: JsonValue): Promise<Answer>
  visitor(as: Role): Promise<Visitor>
  /** The documents as they are before each test: goods 1 of ann, 2 of bob, 4 of no owner, 8 of no supplier; ann’s are in the region of lead. */
  reset(): Promise<void>
}

export async function openGoodsFixture(): Promise<GoodsFixture> {
  const quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  const origin = await quoin.quoin.server.listen()
  const user = { ann: '', bob: '', lead: '' }
  for (const name of ['ann', 'bob', 'lead'] as const) user[name] = await quoin.addUser(name, scopes)
  let goods = ''
  for (const name of ['regions', 'suppliers', 'goods', 'notes']) {
    const record = await quoin.manage('POST', '/_system/storages', { name, history: name === 'goods' })
    if (name === 'goods') goods = guidOf(record)
  }
  for (const [storage, name, target] of [
    ['suppliers', 'region', 'regions'],
    ['goods', 'supplier', 'suppliers'],
    ['notes', 'good', 'goods'],
  ] as const)
    await quoin.manage('POST', '/blueprintfields', {
      ...{ storage, name, type: 'reference' },
      reference: { storage: target, on_delete: 'clear' },
    })
  await quoin.manage('POST', '/blueprintfields', {
    ...{ storage: 'goods', name: 'code', type: 'string', unique: true },
  })
  const set = await quoin.send('PUT', `/_system/storages/${goods}`, { as: 'admin', body: { rules } })
  if (set.status !== 200) throw new Error(set.text)
  await quoin.install('Goods', blocks)
  const made = new Map<string, string>()
  const guid = (name: string) => made.get(name) ?? ''

  async function reset(): Promise<void> {
    const session = quoin.quoin.database.session()
    for (const name of ['notes', 'goods', 'suppliers', 'regions', 'taken'])
      if (quoin.quoin.database.has(name))
        for (const one of await quoin.documents(name)) await session.delete(name, guidOf(one))
    const make = async (name: string, storage: string, fields: JsonObject) =>
      made.set(name, guidOf((await session.create(storage, setFields(fields))).value))
    await make('north', 'regions', { lead: user.lead })
    const region = guid('north')
    await make('ann’s', 'suppliers', { owner: user.ann, region, active: true })
    await make('bob’s', 'suppliers', { owner: user.bob, active: true })
    await make('none’s', 'suppliers', { active: true })
    for (const [n, supplier] of [
      [1, 'ann’s'],
      [2, 'bob’s'],
      [4, 'none’s'],
      [8, undefined],
    ] as const) {
      const of = supplier === undefined ? {} : { supplier: guid(supplier) }
      await make(`good ${n}`, 'goods', { n, title: `good ${n}`, code: `c${n}`, ...of })
      await make(`note ${n}`, 'notes', { n, good: guid(`good ${n}`) })
    }
    await session.transaction.commit()
  }

  return {
    ...{ quoin, origin, goods, user, guid, reset },
    send: (method, path, as, body) =>
      quoin.send(method, path, { ...(as && { as }), ...(body !== undefined && { body }) }),
    async visitor(as) {
      const one = openVisitor(origin)
      if (as) one.setCookie('access_token', await quoin.tokenOf(as))
      return one
    },
  }
}
