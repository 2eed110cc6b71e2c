import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guidOf, objectsOf, openTestQuoin, type TestQuoin } from '../../../test/end-to-end/harness.ts'
import { readEvents } from '../../../test/event-reader.ts'
import { openVisitor } from '../../../test/page-visitor.ts'
import { quoinTemplate } from '../../../test/quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../../../test/temporary-database.ts'
import { setFields } from '../../shared/mutation.ts'

describe('two nodes', () => {
  let temporary: TemporaryDatabase
  let nodes: readonly TestQuoin[] = []
  let addresses: readonly string[] = []

  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    const one = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one' })
    nodes = [one, await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two' })]
    addresses = await Promise.all(nodes.map((node) => node.quoin.server.listen()))
    await one.install('List', {
      list: { type: 'storage', fields: { storage: 'list' } },
      page: { type: 'state_page', in: { url: 'list' } },
      name: { type: 'state_input_dynamic', in: { field: 'name', required: true } },
      form: { type: 'state_form', in: { form_id: 'add', content: '@name.state' } },
      table: {
        type: 'state_advanced_datatable',
        in: { state: '@form.state', storage: '@list.storage', columns: ['name'] },
      },
      show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@table.state' } },
      set: { type: 'mutations_set_bp_field_multiple', in: { object: '@form.values' } },
      create: {
        type: 'function_create_document_from_mutations',
        in: { flow: '@form.submit', storage: '@list.storage', mutations: '@set.mutations' },
      },
    })
  })
  afterAll(async () => {
    for (const node of nodes) await node.close()
    await temporary?.drop()
  })

  /** The events of the page as the first node shows it. */
  async function listen() {
    const [here = ''] = addresses
    const { html } = await openVisitor(here).get('/list')
    const path = /data-events="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    if (path === undefined) throw new Error(`The page says no address of events:\n${html}`)
    return readEvents(`${here}${path}`)
  }
  const changed = { event: 'changed', data: '{"table":"list"}' }

  test('a page open on one node hears of a write on the other', async () => {
    const reader = await listen()
    const session = nodes[1]?.quoin.database.session()
    await session?.create('list', setFields({ name: `from ${addresses[1]}` }))
    await session?.transaction.commit()
    expect(await reader.next()).toMatchObject(changed)
    reader.close()
  })

  test('and of a write to documents that a rule of the storage leads to, which no blueprint names', async () => {
    const [one, two] = nodes
    if (!one || !two) throw new Error('There are two nodes.')
    const owners = guidOf(await one.manage('POST', '/_system/storages', { name: 'owners' }))
    const reference = { storage: 'owners', on_delete: 'clear' }
    await one.manage('POST', '/blueprintfields', {
      storage: 'list',
      name: 'owner',
      type: 'reference',
      reference,
    })
    const owner = guidOf(await one.manage('POST', `/_system/storages/${owners}/documents`, { shows: true }))
    const rules = { see: 'doc.owner.shows == true' }
    const [list] = objectsOf(
      await one.manage('POST', '/_system/storages/search', { filters: { name: 'list' } }),
    )
    await one.manage('PUT', `/_system/storages/${guidOf(list ?? null)}`, { rules })
    const session = one.quoin.database.session()
    await session.create('list', setFields({ name: 'ruled', owner }))
    await session.transaction.commit()
    const shown = async () => (await openVisitor(addresses[0] ?? '').get('/list')).html.includes('ruled')
    expect(await shown()).toBe(true)
    const reader = await listen()
    const gone = two.quoin.database.session()
    await gone.update('owners', owner, setFields({ shows: false }))
    await gone.transaction.commit()
    expect(await reader.next()).toMatchObject(changed)
    expect(await shown()).toBe(false)
    reader.close()
  })

  test('a form of one node can be sent to the other, and to both at once is done once', async () => {
    const [here = '', there = ''] = addresses
    const visitor = openVisitor(here)
    const page = await visitor.get('/list')
    const other = openVisitor(there)
    other.setCookie('quoin_visitor', visitor.cookie('quoin_visitor') ?? '')
    const before = (await nodes[0]?.documents('list'))?.length ?? 0
    const both = await Promise.all([
      visitor.submit(page, 'add', { name: 'Ada' }),
      other.submit(page, 'add', { name: 'Ada' }),
    ])
    expect(both.map(({ status }) => status)).toEqual([303, 303])
    expect(await nodes[0]?.documents('list')).toHaveLength(before + 1)
  })
})
