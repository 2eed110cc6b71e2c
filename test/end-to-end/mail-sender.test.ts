/** The sender of mails that name none, set and changed while a node runs. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { openMailServer } from '../mail-server.ts'
import { eventually } from './example-fixture.ts'
import { objectOf, openTestQuoin } from './harness.ts'

const FROM = 'Shop <shop@example.com>'
const mail = { to: 'ann@example.com', text: 'Text' }
const sending: JsonObject = {
  ask: { type: 'on_startup_register_uri_post', in: { uri: 'mails' }, scopes: ['*public'] },
  mail: {
    type: 'send_mail',
    in: { flow: '@ask.flow', to: '=body.to', subject: '=body.subject', text: '=body.text' },
  },
  sent: { type: 'reply', in: { flow: '@mail.flow', value: '=mail.job' } },
}

test('a sender that is set while it runs counts for mails that wait, and for the next one when it changes', async () => {
  const server = await openMailServer()
  const quoin = await openTestQuoin({ QUOIN_MAIL_URL: `smtp://127.0.0.1:${server.port}?tls=off` })
  const senders = () => server.taken.map(({ headers }) => headers.from)
  const setting = '/_system/settings/QUOIN_MAIL_FROM'
  try {
    await quoin.install('mails', sending)
    const { body } = await quoin.send('POST', '/mails', { body: { ...mail, subject: 'waits' } })
    await eventually(async () => objectOf(await quoin.manage('GET', `/queue/${String(body)}`))).toMatchObject(
      {
        status: 'waiting',
        error: expect.stringContaining('Mail has no sender. Set QUOIN_MAIL_FROM'),
      },
    )
    await eventually(async () => (await quoin.systemLog()).map(({ message }) => message)).toContain(
      'QUOIN_MAIL_FROM is not set: mails that name no sender fail until it is.',
    )
    expect(server.arrived).toEqual([])
    await quoin.manage('PUT', setting, { value: FROM })
    quoin.advance(2 * 3_600_000)
    await eventually(async () => senders()).toEqual([FROM])
    await quoin.manage('PUT', setting, { value: 'Club <club@example.com>' })
    await quoin.send('POST', '/mails', { body: { ...mail, subject: 'next' } })
    await eventually(async () => senders()).toEqual([FROM, 'Club <club@example.com>'])
  } finally {
    await quoin.close()
    await server.close()
  }
})
