import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { appendNode, type PageContent, type PageNode } from '../../shared/pages/page-content.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { systemStorages } from '../../storage/system-storages.ts'
import { transact } from '../../storage/transact.ts'
import block from './send_mail.ts'

let fixture: TestDatabase
beforeEach(async () => {
  fixture = await openTestDatabase()
  await fixture.database.ensure(systemStorages.assets, {})
})
afterEach(() => fixture.close())

const plain = { to: 'ann@example.com', subject: 'Hello', text: 'Text' }
const stateOf = (...nodes: readonly PageNode[]) =>
  nodes.reduce<PageContent | undefined>((content, node) => appendNode(content, node), undefined)
const send = (inputs: Record<string, unknown>) =>
  runBlock(block, { inputs: { ...plain, ...inputs }, session: fixture.database.session() })
const addresses = (count: number) => Array.from({ length: count }, (_none, at) => `a${at}@example.com`)
const asset = (name: string, size = 3) =>
  transact(fixture.database, async (session) =>
    guidOf(
      documentOf(await session.create(systemStorages.assets, setFields({ name, size, type: 'text/plain' }))),
    ),
  )

describe('refused', () => {
  test.each([
    ['to', '', 'is empty'],
    ['to', [], 'is empty'],
    ['to', ' , ', 'is empty'],
    ['to', 'ann', 'must be an e-mail address'],
    ['to', 5, 'must be an e-mail address'],
    ['to', [['ann@example.com']], 'must be an e-mail address'],
    ['to', 'ann@example.com\r\nBcc: eve@example.com', 'one line'],
    ['to', addresses(51), 'at most 50'],
    ['to', `${'a@example.com,'.repeat(5_000)}`, 'must be an e-mail address'],
    ['cc', addresses(50), 'at most 50 recipients'],
    ['bcc', 'eve', 'must be an e-mail address'],
    ['from', 'Eve', 'must be an e-mail address'],
    ['reply_to', 'a@example.com, b@example.com', 'must be an e-mail address'],
    ['subject', 'Hello\r\nBcc: eve@example.com', 'one line'],
    ['subject', 'Hello\u0085there', 'one line'],
    ['subject', 's'.repeat(501), 'at most 500'],
    ['text', 't'.repeat(150_001), 'at most 150000'],
    ['key', 'k'.repeat(301), 'at most 300'],
    ['attachments', 'nothing.pdf', 'names no asset'],
    ['attachments', {}, 'must be the guid or the name'],
    ['attachments', Array.from({ length: 21 }, () => 'a.txt'), 'at most 20'],
    ['attachments', { guid: 'a.txt', name: '../a' }, 'without slashes'],
    ['attachments', 'large.bin', 'at most 20971520 bytes'],
  ])('%s %j', async (pin, value, message) => {
    await asset('a.txt')
    await asset('large.bin', 20 * 1024 * 1024 + 1)
    await expect(send({ [pin]: value })).rejects.toThrow(message)
  })
})

test('a mail without text, html and state is refused with its pin, which the dead letter names', async () => {
  const empty = { pin: 'text', message: 'is empty, and html and state too' }
  await expect(send({ text: '', html: '' })).rejects.toMatchObject(empty)
})

test('recipients are texts with commas or lists; names may hold a comma', async () => {
  const ran = await send({
    to: '"Lee, Ann" <ann@example.com>, bob@example.com',
    cc: ['Carl <carl@example.com>'],
    bcc: addresses(47),
    from: 'Shop <shop@example.com>',
    reply_to: 'help@example.com',
  })
  expect(ran.outputs).toEqual({ job: 'mail 1' })
  expect(ran.mails).toMatchObject([
    {
      from: { name: 'Shop', address: 'shop@example.com' },
      to: [
        { name: 'Lee, Ann', address: 'ann@example.com' },
        { name: '', address: 'bob@example.com' },
      ],
      cc: [{ name: 'Carl', address: 'carl@example.com' }],
      replyTo: { name: '', address: 'help@example.com' },
      subject: 'Hello',
      text: 'Text',
    },
  ])
  expect(ran.mails[0]?.bcc).toHaveLength(47)
})

test('assets are attached by guid, by name and under another name', async () => {
  const guid = await asset('a.txt')
  const { mails } = await send({
    attachments: [guid, 'a.txt', { guid, name: 'b.txt' }],
    text: '',
    html: '<p>x',
  })
  expect(mails).toMatchObject([
    { html: '<p>x', attachments: ['a.txt', 'a.txt', 'b.txt'].map((name) => ({ asset: guid, name })) },
  ])
})

describe('blocks of a page', () => {
  const link: PageNode = { kind: 'link', label: 'Open', href: '/orders' }
  const input: PageNode = { kind: 'input', name: 'email', label: 'E-mail', type: 'text' }
  const text: PageNode = { kind: 'text', text: 'a <b>' }
  const many = (count: number): PageNode => ({
    kind: 'list',
    items: Array.from({ length: count }, () => [text]),
  })
  const cells = (count: number): PageNode => ({
    kind: 'chart',
    id: 'c',
    type: 'bar',
    title: 'Sales',
    labels: Array.from({ length: count }, () => 'May'),
    series: [{ name: 'Net', values: [1] }],
  })

  test.each<[string, readonly PageNode[], string]>([
    ['a form', [{ kind: 'form', id: 'f', block: 'b', content: [] }], 'a form (state_form), which mail'],
    ['an input in a card', [{ kind: 'card', content: [input] }], 'the input email (state_input_dynamic)'],
    ['a dialog', [{ kind: 'modal', id: 'm', label: 'a', title: 'a', content: [] }], 'a dialog (state_modal)'],
    [
      'a button that submits',
      [{ kind: 'button', action: 'submit', label: 'Send' }],
      'the button "Send" of the kind submit (state_button)',
    ],
    ['a relative link', [link], 'set QUOIN_PUBLIC_URL'],
    ['a relative image', [{ kind: 'image', src: 'a.png', alt: '' }], 'set QUOIN_PUBLIC_URL'],
    ['a relative link in a card', [{ kind: 'card', href: '/a', content: [] }], 'set QUOIN_PUBLIC_URL'],
    ['many blocks', [many(3_000)], 'more than 3000 parts'],
    ['many figures', [cells(1_500)], 'more than 3000 parts'],
    ['many lines', [{ ...text, text: '\n'.repeat(3_000) }], 'more than 3000 parts'],
    ['many characters', [{ ...text, text: 'a'.repeat(200_001) }], 'more than 200000 characters'],
    ['a long mail', [{ ...text, text: '<'.repeat(100_000) }], 'at most 262144 are sent'],
    [
      'a value of many parts',
      [{ kind: 'detail', items: [{ label: 'a', format: 'json', value: Array(40_000).fill(1) }] }],
      'too many parts',
    ],
  ])('%s is refused', async (_what, nodes, message) => {
    const sent = send({ state: stateOf(...nodes), text: undefined })
    await expect(sent).rejects.toThrow(message)
    await expect(sent).rejects.toThrow(expect.objectContaining({ pin: 'state' }))
  })

  test('html beside it is refused', async () => {
    await expect(send({ state: stateOf(text), html: '<p>' })).rejects.toThrow('use one of them')
  })

  test('both bodies are made of it; a given text stays', async () => {
    const state = stateOf({ kind: 'heading', level: 1, text: 'Orders' }, text, link)
    const more = { session: fixture.database.session(), publicUrl: 'https://shop.example' }
    const made = await runBlock(block, { inputs: { ...plain, text: undefined, state }, ...more })
    expect(made.mails[0]?.text).toBe('Orders\n======\n\na <b>\n\nOpen: https://shop.example/orders')
    expect(made.mails[0]?.html).toContain('<title>Hello</title>')
    expect(made.mails[0]?.html).toContain('a &lt;b>')
    const values = await runBlock(block, { inputs: { ...plain, text: 'Mine', state }, ...more })
    expect(values.mails[0]).toMatchObject({ text: 'Mine', html: made.mails[0]?.html })
  })

  test('a text of control characters beside it is counted as the job stores it', async () => {
    const sent = send({ state: stateOf(text), text: '\u0001'.repeat(50_000) })
    await expect(sent).rejects.toThrow('at most 262144')
  })
})
