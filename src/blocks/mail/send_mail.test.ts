import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runBlock } from '../../../test/run-block.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/test-database.ts'
import { setFields } from '../../shared/mutation.ts'
import { documentOf } from '../../storage/database.ts'
import { guidOf } from '../../storage/document-fields.ts'
import { ownStorages } from '../../storage/own-storages.ts'
import { transact } from '../../storage/transact.ts'
import block from './send_mail.ts'

let room: TestDatabase
beforeEach(async () => {
  room = await openTestDatabase()
  await room.database.ensure(ownStorages.assets, {})
})
afterEach(() => room.close())

const plain = { to: 'ann@example.com', subject: 'Hello', text: 'Text' }
const send = (inputs: Record<string, unknown>) =>
  runBlock(block, { inputs: { ...plain, ...inputs }, session: room.database.session() })
const addresses = (count: number) => Array.from({ length: count }, (_none, at) => `a${at}@example.com`)
const asset = (name: string, size = 3) =>
  transact(room.database, async (session) =>
    guidOf(
      documentOf(await session.create(ownStorages.assets, setFields({ name, size, type: 'text/plain' }))),
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
    ['to', 'ann@example.com\r\nBcc: eve@example.com', 'must be an e-mail address'],
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
