import { once } from 'node:events'
import { createReadStream, type ReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { type HandOver, parseSmtpUrl, sendMail } from './send-mail.ts'

test.each([
  ['mail.example.com', 'must be smtp://'],
  ['https://mail.example.com', 'must be smtp://'],
  ['smtp://', 'must be smtp://'],
  ['smtp://mail.example.com/inbox', 'must end with the port'],
  ['smtp://user:secret@mail.example.com?pool=1', 'a parameter that is not tls'],
  ['smtp://user:secret@mail.example.com?tls=maybe', 'neither required nor off'],
  ['smtp://user:secret@mail.example.com?tls=off&tls=required', 'neither required nor off'],
])('%s is refused', (url, message) => {
  expect(() => parseSmtpUrl(url)).toThrow(message)
  expect(() => parseSmtpUrl(url)).not.toThrow('secret')
})

test.each([
  ['smtp://mail.example.com', 587, false, 'offered'],
  ['smtps://mail.example.com', 465, true, 'offered'],
  ['smtp://mail.example.com:25?tls=required', 25, false, 'required'],
  ['smtp://user:secret@mail.example.com', 587, false, 'required'],
  ['smtp://user:secret@mail.example.com?tls=off', 587, false, 'off'],
  ['smtp://user:secret@127.0.0.1:1025', 1025, false, 'offered'],
  ['smtp://user:secret@127.example.com', 587, false, 'required'],
])('%s: port %i, secure %s, STARTTLS %s', (url, port, secure, startTls) => {
  expect(parseSmtpUrl(url)).toMatchObject({ port, secure, startTls })
})

test('user and password are decoded, and an IPv6 address loses its brackets', () => {
  expect(parseSmtpUrl('smtp://a%40b:p%3Aw@[::1]:2525')).toMatchObject({
    ...{ host: '::1', user: 'a@b', password: 'p:w', startTls: 'offered' },
  })
})

describe('the file of an attachment', () => {
  function sent(path: string, handOver: HandOver) {
    const opened: ReadStream[] = []
    const read = () => {
      const file = createReadStream(path)
      opened.push(file)
      return file
    }
    const assets = { read, get: async () => ({ size: 1, type: 'text/plain' }) }
    const database = {
      session() {
        throw new Error('nothing is stored')
      },
    }
    const settings = { server: parseSmtpUrl('smtp://127.0.0.1:1'), from: undefined }
    const from = { name: '', address: 'a@example.com' }
    const attachments = [{ asset: 'guid', name: 'a.txt' }]
    const mail = { from, to: [from], cc: [], bcc: [], subject: 's', text: 't', attachments }
    const job = { guid: 'job', payload: { account: {} }, attempts: 0 }
    const parts = { settings, database, assets, accountMail: async () => mail, handOver }
    return { opened, end: sendMail(parts, job, new AbortController().signal) }
  }
  const contentOf = ([mail]: Parameters<HandOver>): Readable => {
    const content = mail.attachments?.[0]?.content
    if (typeof content !== 'object' || !('destroyed' in content)) throw new Error('no stream')
    return content
  }

  test('that is gone fails the mail, and nothing else', async () => {
    const { opened, end } = sent('/nowhere/a.txt', async (...mail) => {
      // An error would have no listener yet: the client is being loaded.
      expect(opened).toEqual([])
      for await (const _ of contentOf(mail)) throw new Error('something was read')
      return []
    })
    await expect(end).rejects.toThrow('ENOENT')
  })

  test('is closed when the mail fails in the middle of it', async () => {
    const { opened, end } = sent(import.meta.filename, async (...mail) => {
      await once(contentOf(mail), 'readable')
      throw new Error('the connection is lost')
    })
    await expect(end).rejects.toThrow('the connection is lost')
    await expect.poll(() => opened.map(({ closed }) => closed)).toEqual([true])
  })
})
